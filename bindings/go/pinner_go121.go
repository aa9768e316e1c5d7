//go:build !go1.22

package tally

// pinner keeps Go memory alive while C has its address. These releases never move the heap, where
// all held memory is. (Go 1.21's runtime.Pinner refuses foreign memory, such as a DeviceBuffer's.)
type pinner struct{ held []any }

func (p *pinner) Pin(pointer any) { p.held = append(p.held, pointer) }

func (p *pinner) Unpin() { p.held = nil }
