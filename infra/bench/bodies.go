package main

import (
	"context"
	"fmt"

	"devplatform/infra/bodies"
	"devplatform/infra/routes"
)

// bodies measures how long the functions need to read the most expensive request bodies, without the platform. It
// prints the slowest body of each endpoint.
func (b *bench) bodies(context.Context) error {
	const repeats = 3
	all, err := bodies.For(routes.All())
	if err != nil {
		return fmt.Errorf("bodies: %w", err)
	}
	section("REQUEST BODIES of the maximum size: CPU time of the slowest of each endpoint (goal: 500 ms), and of a valid one",
		"slowest", "valid", "allocated")
	var valid, slowest bodies.Cost
	var shape string
	for i, body := range all {
		data := body.Data()
		cost := body.Read(data)
		for range repeats - 1 {
			cost.CPU = min(cost.CPU, body.Read(data).CPU)
		}
		if body.Valid {
			valid, slowest = cost, bodies.Cost{}
		} else if cost.CPU > slowest.CPU {
			slowest, shape = cost, body.Shape
		}
		if i+1 == len(all) || all[i+1].Valid {
			row(body.Endpoint, slowest.CPU, valid.CPU, mb(int64(slowest.Allocated)), " "+shape)
		}
	}
	return nil
}
