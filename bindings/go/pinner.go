//go:build go1.22

package tally

import "runtime"

// pinner keeps Go memory in place while C has its address.
type pinner = runtime.Pinner
