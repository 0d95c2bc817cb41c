package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

const (
	warmTime = 4 * time.Second
	// aim is what the whole local platform shall serve on 2 cores at 16 connections.
	aim = 2000
)

// warm measures GET /api/auth/me through the platform as a process of its own: gateway, runtime, function, DynamoDB.
// The load generator shares the machine.
func (b *bench) warm(ctx context.Context) error {
	p, err := b.startPlatform(ctx, filepath.Join(b.scratch, "warm"))
	if err != nil {
		return err
	}
	defer p.stop()
	account, err := signUp(ctx, p.url)
	if err != nil {
		return err
	}
	b.printf("\nGET /api/auth/me through the whole local platform (aim: %d/s at 16 connections on 2 cores)\n", aim)
	b.printf("%12s %12s %12s %12s\n", "connections", "requests/s", "p50", "p99")
	for _, connections := range []int{1, 16, 64} {
		result, err := account.load(ctx, connections)
		if err != nil {
			return err
		}
		b.printf("%12d %12.0f %12s %12s\n", connections, result.perSecond, ms(result.latency.at(0.5)), ms(result.latency.at(0.99)))
	}
	return b.shares(ctx)
}

// load sends the request over a number of kept-alive connections at once.
func (a *account) load(ctx context.Context, connections int) (load, error) {
	open := make([]*connection, connections)
	for i := range open {
		c, err := a.dial(ctx)
		if err != nil {
			return load{}, err
		}
		defer c.close()
		if err := c.get(); err != nil {
			return load{}, fmt.Errorf("connection %d: %w", i, err)
		}
		open[i] = c
	}
	return drive(connections, warmTime, func(client int) error { return open[client].get() })
}
