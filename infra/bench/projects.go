package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	projectsTime = 2 * time.Second
	// crowd is the number of connections that save and read at once.
	crowd = 16
	// crowdSize is the size of the files that they save and read.
	crowdSize = 4 << 10
)

// projects measures projects and files through the platform as a process of its own: how many saves and reads it takes
// from a crowd, and whether anything grows with data that a request does not ask for.
func (b *bench) projects(ctx context.Context) error {
	p, err := b.startPlatform(ctx, filepath.Join(b.scratch, "projects"))
	if err != nil {
		return err
	}
	defer p.stop()
	for _, measure := range []func(context.Context, string) error{b.crowd, b.listGrowth, b.fileGrowth} {
		if err := measure(ctx, p.url); err != nil {
			return err
		}
	}
	return nil
}

// workshop is a connection of an account with projects of its own.
type workshop struct {
	*connection
	projects []string
}

// newWorkshop signs up, and makes n projects in a workspace of their own.
func newWorkshop(ctx context.Context, base string, n int) (*account, *workshop, error) {
	a, err := signUp(ctx, base)
	if err != nil {
		return nil, nil, err
	}
	c, err := a.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	w := &workshop{connection: c}
	for i := range n {
		id, err := w.create("/api/projects", map[string]any{"name": "Project " + strconv.Itoa(i)})
		if err != nil {
			return nil, nil, err
		}
		w.projects = append(w.projects, id)
	}
	return a, w, nil
}

// create posts a thing and answers its id.
func (w *workshop) create(path string, fields map[string]any) (string, error) {
	said, err := w.do(http.MethodPost, path, encode(fields))
	if err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(said, &made); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return made.ID, nil
}

// save writes a file of that many bytes, never the same ones twice.
func (c *connection) save(project, path string, size int) error {
	_, err := c.do(http.MethodPost, "/api/projects/"+project+"/files", encode(map[string]any{"path": path, "content": source(size)}))
	return err
}

// read gets a file with its content.
func (c *connection) read(project, path string) error {
	_, err := c.do(http.MethodGet, "/api/projects/"+project+"/files?path="+url.QueryEscape(path), nil)
	return err
}

func encode(fields map[string]any) []byte {
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err) // texts and numbers
	}
	return data
}

var saved atomic.Int64

// vocabulary makes sources compress about as well as real ones.
var vocabulary = strings.Fields("const let return function import from export default if else for of => () {} ; useState className " +
	"items index value onChange event await fetch response json error null undefined true false string number div span button")

// source is a text of that many bytes which looks like a program and is unlike every other.
func source(size int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "// %d\n", saved.Add(1))
	for text.Len() < size {
		text.WriteString(vocabulary[rand.IntN(len(vocabulary))])
		text.WriteString(strconv.Itoa(rand.IntN(1000)))
		text.WriteByte(" \n"[rand.IntN(2)])
	}
	return text.String()[:size]
}

// crowd lets sixteen connections save and read small files, each in a project of its own and all in one.
func (b *bench) crowd(ctx context.Context, base string) error {
	a, w, err := newWorkshop(ctx, base, crowd)
	if err != nil {
		return err
	}
	defer w.close()
	open := make([]*connection, crowd)
	for i := range open {
		if open[i], err = a.dial(ctx); err != nil {
			return err
		}
		defer open[i].close()
	}
	b.printf("\nFiles of 4 KiB through the whole local platform, %d connections, each with its own file\n", crowd)
	b.printf("%-24s %12s %12s %12s\n", "", "requests/s", "p50", "p99")
	for _, spread := range []struct {
		name     string
		projects int
	}{{"over 16 projects", crowd}, {"over one project", 1}} {
		at := func(client int) (string, string) {
			return w.projects[client%spread.projects], "/src/file" + strconv.Itoa(client) + ".ts"
		}
		for i := range open { // the first save creates
			project, path := at(i)
			if err := open[i].save(project, path, crowdSize); err != nil {
				return err
			}
		}
		for _, op := range []struct {
			name string
			do   func(c *connection, project, path string) error
		}{
			{"saves", func(c *connection, project, path string) error { return c.save(project, path, crowdSize) }},
			{"reads", (*connection).read},
		} {
			result, err := drive(crowd, projectsTime, func(client int) error {
				project, path := at(client)
				return op.do(open[client], project, path)
			})
			if err != nil {
				return err
			}
			b.printf("%-24s %12.0f %12s %12s\n", op.name+" "+spread.name, result.perSecond, ms(result.latency.at(0.5)), ms(result.latency.at(0.99)))
		}
	}
	return nil
}

// listGrowth lists the projects of a workspace that has more and more of them.
func (b *bench) listGrowth(ctx context.Context, base string) error {
	_, w, err := newWorkshop(ctx, base, 0)
	if err != nil {
		return err
	}
	defer w.close()
	b.printf("\nGET /api/projects, by the number of projects in the workspace (1 connection)\n")
	b.printf("%-24s %12s %12s %12s\n", "projects", "answer", "p50", "p99")
	have := 0
	for _, projects := range []int{10, 100, 1000} {
		for ; have < projects; have++ {
			if _, err := w.create("/api/projects", map[string]any{"name": "Project " + strconv.Itoa(have)}); err != nil {
				return err
			}
		}
		var size int
		result, err := drive(1, projectsTime, func(int) error {
			said, err := w.do(http.MethodGet, "/api/projects", nil)
			size = len(said)
			return err
		})
		if err != nil {
			return err
		}
		b.printf("%-24d %12s %12s %12s\n", projects, kib(size), ms(result.latency.at(0.5)), ms(result.latency.at(0.99)))
	}
	return nil
}

// fileGrowth saves and reads a file in a project with few and with very many others, and with ever larger contents.
func (b *bench) fileGrowth(ctx context.Context, base string) error {
	_, w, err := newWorkshop(ctx, base, 1)
	if err != nil {
		return err
	}
	defer w.close()
	b.printf("\nOne file, by the number of files in the project and by its size (1 connection)\n")
	b.printf("%-10s %-10s %12s %12s %12s %12s\n", "files", "content", "save: p50", "p99", "read: p50", "p99")
	have := 0
	for _, files := range []int{10, 4990} {
		for have < files {
			if have, err = w.fill(have, files); err != nil {
				return err
			}
		}
		for _, size := range []int{1 << 10, 100 << 10, 1 << 20} {
			line := fmt.Sprintf("%-10d %-10s", files, kib(size))
			for _, do := range []func() error{
				func() error { return w.save(w.projects[0], "/measured.ts", size) },
				func() error { return w.read(w.projects[0], "/measured.ts") },
			} {
				result, err := drive(1, projectsTime/2, func(int) error { return do() })
				if err != nil {
					return err
				}
				line += fmt.Sprintf(" %12s %12s", ms(result.latency.at(0.5)), ms(result.latency.at(0.99)))
			}
			b.printf("%s\n", line)
		}
	}
	return nil
}

// fill adds up to twenty small files, and answers how many the project has.
func (w *workshop) fill(have, want int) (int, error) {
	var operations []map[string]any
	for ; have < want && len(operations) < 20; have++ {
		operations = append(operations, map[string]any{
			"op": "create", "path": fmt.Sprintf("/src/folder%d/file%d.ts", have/50, have), "content": source(200),
		})
	}
	_, err := w.do(http.MethodPost, "/api/projects/"+w.projects[0]+"/files/batch", encode(map[string]any{"operations": operations}))
	return have, err
}

// kib writes a number of bytes.
func kib(n int) string { return fmt.Sprintf("%.1f KiB", float64(n)/1024) }
