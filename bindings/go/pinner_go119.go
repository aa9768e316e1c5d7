//go:build !go1.21

package tally

// pinner keeps memory of Go while C has its address. These releases of Go move nothing that lies on
// the heap, where whatever is held here is.
type pinner struct{ held []any }

func (p *pinner) Pin(pointer any) { p.held = append(p.held, pointer) }

func (p *pinner) Unpin() { p.held = nil }
