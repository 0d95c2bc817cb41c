package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"devplatform/infra/bench/rig"
)

const (
	loadTime   = 1500 * time.Millisecond // with many connections
	singleTime = 800 * time.Millisecond  // with one connection
	clients    = 16
	manyFiles  = 4990
)

// dial returns n connections of an account. They end with the platform.
func dial(ctx context.Context, c *rig.Client, n int) ([]*rig.Client, error) {
	return parallel(n, func(int) (*rig.Client, error) { return c.Dial(ctx) })
}

// warm measures GET /api/auth/me by the number of connections.
func (b *bench) warm(ctx context.Context) error {
	p, err := b.platform(ctx, "warm")
	if err != nil {
		return err
	}
	defer p.Stop()
	account, err := rig.SignUp(ctx, p.URL)
	if err != nil {
		return err
	}
	section("GET /api/auth/me (goal with 16 connections: 2000 requests/s)", "requests/s", "p50", "p99")
	for _, connections := range []int{1, 16, 64} {
		connected, err := dial(ctx, account, connections)
		if err != nil {
			return err
		}
		result, err := drive(connections, loadTime, func(client int) error { return connected[client].Get("/api/auth/me") })
		if err != nil {
			return err
		}
		row(fmt.Sprintf("connections: %d", connections), result.values()...)
	}
	return nil
}

// projects measures projects and files: concurrent saves and reads, and the effect of data that a request does not
// concern.
func (b *bench) projects(ctx context.Context) error {
	p, err := b.platform(ctx, "projects")
	if err != nil {
		return err
	}
	defer p.Stop()
	for _, measure := range []func(context.Context, *rig.Client) error{concurrentFiles, manyProjects, largeProject} {
		account, err := rig.SignUp(ctx, p.URL)
		if err != nil {
			return err
		}
		if err := measure(ctx, account); err != nil {
			return err
		}
	}
	return nil
}

// concurrentFiles saves and reads files of 4 KiB in several projects and in one.
func concurrentFiles(ctx context.Context, account *rig.Client) error {
	projects, err := account.Projects(clients)
	if err != nil {
		return err
	}
	connected, err := dial(ctx, account, clients)
	if err != nil {
		return err
	}
	section(fmt.Sprintf("FILES OF 4 KiB, %d connections, each with its own file", clients), "requests/s", "p50", "p99")
	for _, n := range []int{clients, 1} {
		for i, op := range []func(c *rig.Client, project, path string) error{
			func(c *rig.Client, project, path string) error { return c.Save(project, path, 4<<10) }, (*rig.Client).Read,
		} {
			result, err := drive(clients, loadTime, func(client int) error {
				return op(connected[client], projects[client%n], "/src/file"+strconv.Itoa(client)+".ts")
			})
			if err != nil {
				return err
			}
			row(fmt.Sprintf("%s, projects: %d", []string{"saves", "reads"}[i], n), result.values()...)
		}
	}
	return nil
}

// manyProjects lists projects.
func manyProjects(_ context.Context, account *rig.Client) error {
	section("LISTS OF PROJECTS, by their number (1 connection)", "requests/s", "p50", "p99")
	for have := 0; have < 1000; {
		more := max(10, 9*have)
		if _, err := account.Projects(more); err != nil {
			return err
		}
		have += more
		result, err := drive(1, singleTime, func(int) error { return account.Get("/api/projects") })
		if err != nil {
			return err
		}
		row(fmt.Sprintf("%d projects", have), result.values()...)
	}
	return nil
}

// largeProject saves and reads a file in a project with few and in one with many other files.
func largeProject(_ context.Context, account *rig.Client) error {
	projects, err := account.Projects(2)
	if err != nil {
		return err
	}
	section("ONE FILE, by its size and by the number of other files", "save: p50", "p99", "read: p50", "p99")
	for i, files := range []int{10, manyFiles} {
		if err := account.Fill(projects[i], files); err != nil {
			return err
		}
		for _, size := range []int{1 << 10, 100 << 10, 1 << 20} {
			var values []any
			for _, do := range []func() error{
				func() error { return account.Save(projects[i], "/measured.ts", size) },
				func() error { return account.Read(projects[i], "/measured.ts") },
			} {
				result, err := drive(1, singleTime, func(int) error { return do() })
				if err != nil {
					return err
				}
				values = append(values, result.values()[1:]...)
			}
			row(fmt.Sprintf("%d KiB among %d files", size>>10, files), values...)
		}
	}
	return nil
}
