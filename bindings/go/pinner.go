//go:build go1.22

package tally

import "runtime"

// pinner keeps memory of Go where it is while C has its address.
type pinner = runtime.Pinner
