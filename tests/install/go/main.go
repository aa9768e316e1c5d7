// A Go program that uses an installed Tally.
package main

import (
	"fmt"
	"log"

	"tally"
)

func main() {
	r, err := tally.Dot[float64](nil, []float64{1, 2, 3}, []int8{4, 5, 6})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r)
	if r != 32 {
		log.Fatal("it is 32")
	}
}
