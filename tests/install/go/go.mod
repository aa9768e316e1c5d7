module client

go 1.19

require tally v0.0.0

replace tally => ../../../bindings/go
