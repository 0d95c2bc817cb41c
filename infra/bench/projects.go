package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"devplatform/infra/bench/rig"
)

const (
	// crowdTime is how long a crowd saves or reads, growthTime how long one connection does.
	crowdTime  = 1500 * time.Millisecond
	growthTime = 800 * time.Millisecond
	// crowd is the number of connections that save and read at once.
	crowd = 16
	// crowdSize is the size of the files that they save and read.
	crowdSize = 4 << 10
)

// projects measures projects and files through the platform as a process of its own: how many saves and reads it takes
// from a crowd, and whether anything grows with data that a request does not ask for.
func (b *bench) projects(ctx context.Context) error {
	url, err := b.shared(ctx)
	if err != nil {
		return err
	}
	for _, measure := range []func(context.Context, string) error{b.crowd, b.listGrowth, b.fileGrowth} {
		if err := measure(ctx, url); err != nil {
			return err
		}
	}
	return nil
}

// crowd lets sixteen connections save and read small files, each in a project of its own and all in one.
func (b *bench) crowd(ctx context.Context, url string) error {
	w, err := rig.NewWorkshop(ctx, url, crowd)
	if err != nil {
		return err
	}
	defer w.Close()
	open := make([]*rig.Connection, crowd)
	for i := range open {
		if open[i], err = w.Account.Dial(ctx); err != nil {
			return err
		}
		defer open[i].Close()
	}
	b.section(fmt.Sprintf("FILES OF 4 KiB through the whole local platform, %d connections, each with its own file", crowd), "requests/s", "p50", "p99")
	for _, spread := range []struct {
		name     string
		projects int
	}{{"over 16 projects", crowd}, {"over one project", 1}} {
		at := func(client int) (string, string) {
			return w.Projects[client%spread.projects], "/src/file" + strconv.Itoa(client) + ".ts"
		}
		for i := range open { // the first save creates
			project, path := at(i)
			if err := open[i].Save(project, path, crowdSize); err != nil {
				return err
			}
		}
		for _, op := range []struct {
			name string
			do   func(c *rig.Connection, project, path string) error
		}{
			{"saves", func(c *rig.Connection, project, path string) error { return c.Save(project, path, crowdSize) }},
			{"reads", (*rig.Connection).Read},
		} {
			result, err := rig.Drive(crowd, crowdTime, func(client int) error {
				project, path := at(client)
				return op.do(open[client], project, path)
			})
			if err != nil {
				return err
			}
			b.row(op.name+" "+spread.name, result.PerSecond, result.Latency.At(0.5), result.Latency.At(0.99))
		}
	}
	return nil
}

// listGrowth lists the projects of a workspace that has more and more of them.
func (b *bench) listGrowth(ctx context.Context, url string) error {
	w, err := rig.NewWorkshop(ctx, url, 0)
	if err != nil {
		return err
	}
	defer w.Close()
	b.section("GET /api/projects, by the number of projects in the workspace (1 connection)", "answer", "p50", "p99")
	have := 0
	for _, projects := range []int{10, 100, 1000} {
		if err := b.makeProjects(ctx, w.Account, have, projects); err != nil {
			return err
		}
		have = projects
		var size int
		result, err := rig.Drive(1, growthTime, func(int) error {
			said, err := w.Do(http.MethodGet, "/api/projects", nil)
			size = len(said)
			return err
		})
		if err != nil {
			return err
		}
		b.row(plural(projects, "project"), kib(size), result.Latency.At(0.5), result.Latency.At(0.99))
	}
	return nil
}

// makeProjects makes projects until there are as many as wanted, four at a time.
func (b *bench) makeProjects(ctx context.Context, a *rig.Account, have, want int) error {
	const makers = 4
	_, err := rig.Together(makers, func(maker int) (struct{}, error) {
		c, err := a.Dial(ctx)
		if err != nil {
			return struct{}{}, err
		}
		defer c.Close()
		for n := have + maker; n < want; n += makers {
			if err := c.Post("/api/projects", map[string]any{"name": "Project " + strconv.Itoa(n)}); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	})
	return err
}

// fileGrowth saves and reads a file in a project with few and with very many others, and with ever larger contents.
func (b *bench) fileGrowth(ctx context.Context, url string) error {
	small, err := rig.NewWorkshop(ctx, url, 1)
	if err != nil {
		return err
	}
	defer small.Close()
	if err := small.Fill(small.Projects[0], 0, 10); err != nil {
		return err
	}
	big, err := b.bigProject(ctx)
	if err != nil {
		return err
	}
	b.section("ONE FILE, by the number of files in its project and by its size (1 connection)", "save: p50", "p99", "read: p50", "p99")
	for _, among := range []struct {
		files int
		*rig.Workshop
	}{{10, small}, {bigFiles, big}} {
		for _, size := range []int{1 << 10, 100 << 10, 1 << 20} {
			var values []any
			for _, do := range []func() error{
				func() error { return among.Save(among.Projects[0], "/measured.ts", size) },
				func() error { return among.Read(among.Projects[0], "/measured.ts") },
			} {
				result, err := rig.Drive(1, growthTime, func(int) error { return do() })
				if err != nil {
					return err
				}
				values = append(values, result.Latency.At(0.5), result.Latency.At(0.99))
			}
			b.row(fmt.Sprintf("%d KiB among %s", size>>10, plural(among.files, "file")), values...)
		}
	}
	return nil
}
