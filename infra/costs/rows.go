package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"devplatform/infra/bench/rig"
	"devplatform/infra/hooktest"
	"devplatform/infra/process"
)

const (
	// runs is the number of times that each request is counted, after once that is not counted.
	runs = 5
	// callTime is the assumed time of a call of DynamoDB, objectTime the time of a request to S3, and startTime the time
	// of the rest of an invocation.
	callTime   = 5 * time.Millisecond
	objectTime = 30 * time.Millisecond
	startTime  = 3 * time.Millisecond
	// endpointTime is the assumed time in which an endpoint responds.
	endpointTime = 100 * time.Millisecond
	memoryMB     = 512 // of a function
	// headerBytes is the assumed size of the header of a response. The real size depends on the time of day.
	headerBytes = 700
)

// row is a kind of request.
type row struct {
	name string
	do   func(n int) error // n is different for each call
	// before prepares the n-th request. It is not counted.
	before func(n int) error
	// extra is the assumed CPU time of the functions beyond startTime, with 0.29 of a core.
	extra time.Duration
	// units are the units that one request uses, with everything that it causes in the background.
	units
}

// Names of rows that others refer to.
const (
	rowSave     = "save 4 KiB"
	rowChat     = "chat, streamed"
	rowModel    = "+ 10 s that a model takes"
	rowLone     = "delivery to one webhook"
	rowTen      = "delivery to one of ten webhooks"
	rowJob      = "retry job that finds nothing"
	rowSweep    = "sweep of jobs that finds nothing"
	rowRemovals = "removals that find nothing"

	rowDeploy   = "deploy 20 small static files"
	rowPage     = "view a page of 10 KiB of a site"
	rowDownload = "read 10 MB from a site"
)

// requests returns the rows of requests to the API.
func requests(c *rig.Client, projects []string) []*row {
	work, grows, two, batches := projects[0], projects[1], projects[2], projects[3]
	nth := func(name string, n int) string { return "/" + name + "/" + strconv.Itoa(n) + ".ts" }
	get := func(path string) func(int) error { return func(int) error { return c.Get(path) } }
	save := func(path string, size int) func(int) error {
		return func(int) error { return c.Save(work, path, size) }
	}
	read := func(path string) func(int) error { return func(int) error { return c.Read(work, path) } }
	create := func(name string) func(int) error {
		return func(n int) error { return c.Save(grows, nth(name, n), 4<<10) }
	}
	chat := rig.Object{"projectId": two, "message": "Create a table of invoices with number, date and total."}
	const hashing, large, medium = 90 * time.Millisecond, 140 * time.Millisecond, 20 * time.Millisecond
	return []*row{
		{name: "sign up", extra: hashing, do: func(int) error { return c.Post("/api/auth/signup", rig.NewUser()) }},
		{name: "log in", extra: hashing, do: func(int) error {
			return c.Post("/api/auth/login", rig.Object{"email": c.Email, "password": c.Password})
		}},
		{name: "read the current user", do: get("/api/auth/me")},
		{name: "list six projects", do: get("/api/projects")},
		{name: "read a project with two files", do: get("/api/projects/" + two), before: func(n int) error {
			return c.Save(two, nth("two", n%2), 4<<10)
		}},
		{name: "list its files", do: get("/api/projects/" + two + "/files")},
		{name: "save 4 KiB, new file", do: create("new")},
		{name: rowSave, do: save("/4.ts", 4<<10)},
		{name: "save 100 KiB", do: save("/100.ts", 100<<10), extra: medium},
		{name: "save 1 MiB of source code", do: save("/1024.ts", 1<<20), extra: large},
		{name: "save 1 MiB, incompressible", do: saveNoise(c, work), extra: large},
		{name: "read 4 KiB", do: read("/4.ts")},
		{name: "read 100 KiB", do: read("/100.ts"), extra: medium},
		{name: "read 1 MiB of source code", do: read("/1024.ts"), extra: large},
		{name: "read 1 MiB, incompressible", do: read("/1024.bin"), extra: large},
		{name: "history of a file", do: get("/api/projects/" + work + "/files/history?path=/4.ts")},
		{name: "rename a file", before: create("old"), do: func(n int) error {
			return c.Post("/api/projects/"+grows+"/files/batch", rig.Object{"operations": []rig.Object{
				{"op": "rename", "path": nth("old", n), "to": nth("renamed", n)},
			}})
		}},
		{name: "delete a file", before: create("gone"), do: func(n int) error {
			_, err := c.Do(http.MethodDelete, "/api/projects/"+grows+"/files?path="+nth("gone", n), nil)
			return err
		}},
		{name: "batch of 20 new files of 4 KiB", do: saveBatch(c, batches), extra: medium},
		{name: "feed of 50 events", do: get("/api/projects/" + batches + "/events")},
		{name: "comment", do: func(int) error {
			return c.Post("/api/projects/"+work+"/comments", rig.Object{"body": "Nice."})
		}},
		{name: rowChat, do: func(int) error { return c.Post("/api/ai/chat/stream", chat) }, extra: medium},
		{name: "generate", extra: medium, do: func(int) error {
			return c.Post("/api/ai/generate", rig.Object{"prompt": "A table with number."})
		}},
		{name: "create a project", do: func(n int) error {
			return c.Post("/api/projects", rig.Object{"name": "Another " + strconv.Itoa(n)})
		}},
	}
}

// saveBatch returns a function that creates files with one request.
func saveBatch(c *rig.Client, project string) func(int) error {
	return func(n int) error {
		var paths []string
		for file := range rig.MaxBatch {
			paths = append(paths, fmt.Sprintf("/%d/%d.ts", n, file))
		}
		return c.Batch(project, "create", 4<<10, paths...)
	}
}

// saveNoise returns a function that saves a binary file of 1 MiB that cannot be compressed.
func saveNoise(c *rig.Client, project string) func(int) error {
	random := rand.NewChaCha8([32]byte{1})
	return func(int) error {
		data := make([]byte, 1<<20)
		_, _ = random.Read(data) // it always succeeds
		return c.Post("/api/projects/"+project+"/files",
			rig.Object{"path": "/1024.bin", "content": base64.StdEncoding.EncodeToString(data), "encoding": "base64"})
	}
}

// measure counts what a row uses. Every number is the median of the runs, and most runs must have the same number of
// calls and of invocations.
func (m *meter) measure(p *process.Process, c *rig.Client, r *row) error {
	var counts [runs]units
	var before, after units
	for n := range runs + 1 {
		if r.before != nil {
			if err := r.before(n); err != nil {
				return fmt.Errorf("before %s: %w", r.name, err)
			}
		}
		before = after
		if n == 0 || r.before != nil {
			var err error
			if before, err = m.settle(p); err != nil {
				return fmt.Errorf("before %s: %w", r.name, err)
			}
		}
		received := c.Received
		if err := r.do(n); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		var err error
		if after, err = m.settle(p); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		used := after.plus(-1, before)
		if c.Received > received {
			used[outBytes] = float64(c.Received - received + headerBytes)
		}
		if n > 0 { // the first one starts the functions
			counts[n-1] = used
		}
	}
	var err error
	if r.units, err = typical(counts); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	r.finish()
	return nil
}

// typical returns the median of each unit. It returns an error if most runs have other numbers of calls or invocations.
func typical(counts [runs]units) (u units, err error) {
	for unit := range u {
		var all []float64
		for _, c := range counts {
			all = append(all, c[unit])
		}
		slices.Sort(all)
		u[unit] = all[runs/2]
		others := slices.DeleteFunc(slices.Clone(all), func(n float64) bool { return n == u[unit] })
		if len(others) > runs/2 && (unit == calls || unit == invocations) {
			return u, fmt.Errorf("the numbers of %s differ: %v", prices[unit].name, all)
		}
	}
	return u, nil
}

// finish computes the units that are not counted.
func (r *row) finish() {
	r.units[gbSeconds] = gigabyteSeconds(r.time(), memoryMB)
	r.units[traces] = tracedShare * r.units[invocations]
}

// time returns the assumed time of the functions.
func (r *row) time() time.Duration {
	objects := r.units[puts] + r.units[gets]
	return time.Duration(r.units[calls]*float64(callTime)+objects*float64(objectTime)+
		r.units[invocations]*float64(startTime)) + r.extra
}

// countRequests returns the rows of requests to the API.
func (m *meter) countRequests(ctx context.Context, p *process.Process) ([]*row, error) {
	c, err := rig.SignUp(ctx, p.URL)
	if err != nil {
		return nil, err
	}
	projects, err := c.Projects(6)
	if err != nil {
		return nil, err
	}
	if err := c.Fill(projects[5], 100); err != nil {
		return nil, err
	}
	rows := append(requests(c, projects), largeFiles(ctx, c, projects[4], projects[5])...)
	for _, r := range rows {
		if err := m.measure(p, c, r); err != nil {
			return nil, err
		}
		r.units[gateway] = max(1, float64(int(r.units[outBytes]+10<<20-1)/(10<<20)))
	}
	model := &row{name: rowModel, extra: 10 * time.Second}
	model.finish()
	return append(rows, model), nil
}

// countDeliveries returns the rows of webhook deliveries. A delivery is the difference between a save with webhooks and
// the same save without a webhook.
func (m *meter) countDeliveries(ctx context.Context, p *process.Process, without *row) (rows []*row, err error) {
	for _, webhooks := range []int{1, 10} {
		name := map[int]string{1: rowLone, 10: rowTen}[webhooks]
		c, err := rig.SignUp(ctx, p.URL)
		if err != nil {
			return nil, err
		}
		receiver := hooktest.New(nil)
		defer receiver.Close()
		projects, err := c.Projects(1)
		if err != nil {
			return nil, err
		}
		for n := range webhooks {
			url := receiver.URL("/ok/" + strconv.Itoa(n))
			if err := c.Post("/api/webhooks", rig.Object{"url": url, "events": []string{"file.*"}}); err != nil {
				return nil, err
			}
		}
		saves := 0
		save := func(int) error {
			if err := c.Save(projects[0], "/4.ts", 4<<10); err != nil {
				return err
			}
			saves++
			return receiver.Wait(ctx, func(r *hooktest.Receiver) bool { return r.Total() >= saves*webhooks })
		}
		if err := save(0); err != nil { // the first delivery to an endpoint uses the slow lane
			return nil, err
		}
		with := &row{name: name, do: save}
		if err := m.measure(p, c, with); err != nil {
			return nil, err
		}
		share := 1 / float64(webhooks)
		delivery := &row{name: name, extra: time.Duration(share * float64(endpointTime))}
		delivery.units = units{}.plus(share, with.plus(-1, without.units))
		delivery.units[outBytes], delivery.units[gateway] = float64(size(receiver.Requests()[0])), 0
		delivery.finish()
		rows = append(rows, delivery)
	}
	return rows, nil
}

// size returns the number of bytes of a request, with its header.
func size(r hooktest.Request) int {
	n := len(r.Method+r.Path) + len(r.Body)
	for name, values := range r.Header {
		n += len(name) + len(strings.Join(values, "")) + len(": \r\n")
	}
	return n
}

// countJob counts a run of a scheduled function that finds nothing. sample is the name of its sample event.
func (m *meter) countJob(ctx context.Context, p *process.Process, function, sample, name string) (*row, error) {
	event, err := os.ReadFile("events/" + sample + ".json")
	if err != nil {
		return nil, fmt.Errorf("the event of the schedule: %w", err)
	}
	r := &row{name: name, do: func(int) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost,
			p.AWS+"/2015-03-31/functions/"+function+"/invocations", bytes.NewReader(event))
		if err != nil {
			return fmt.Errorf("invoke: %w", err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return fmt.Errorf("invoke: %w", err)
		}
		defer func() { _ = response.Body.Close() }()
		if response.Header.Get("X-Amz-Function-Error") != "" || response.StatusCode != http.StatusOK {
			return errors.New(name + " failed: " + response.Status)
		}
		return nil
	}}
	return r, m.measure(p, &rig.Client{}, r)
}
