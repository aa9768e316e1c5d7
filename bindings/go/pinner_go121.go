//go:build !go1.22

package tally

// pinner keeps memory of Go while C has its address. These releases of Go move nothing that lies on
// the heap, where whatever is held here is. (Go 1.21's runtime.Pinner refuses memory that is not
// Go's, such as that of a DeviceBuffer.)
type pinner struct{ held []any }

func (p *pinner) Pin(pointer any) { p.held = append(p.held, pointer) }

func (p *pinner) Unpin() { p.held = nil }
