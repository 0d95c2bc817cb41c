package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"devplatform/infra/bench/price"
	"devplatform/infra/bench/rig"
	"devplatform/infra/local/stack"
)

// request is a kind of request whose cost is measured.
type request struct {
	name string
	// before makes what the n-th needs; it is not counted.
	before func(n int) error
	do     func(n int) error
	// streamed tells that the gateway bills its answer by length.
	streamed bool
}

// costRuns is how often each is made, after once that isn't counted.
const costRuns = 9

// What requests do, where something else refers to them.
const (
	reqMe        = "me"
	reqLogin     = "login"
	reqList      = "list projects (1)"
	reqCreate    = "create a project"
	reqProject   = "read a project, 2 files"
	reqListing   = "list its 2 files"
	reqSave4     = "save 4 KiB"
	reqSave100   = "save 100 KiB"
	reqSave1M    = "save 1 MiB of source"
	reqSaveNoise = "save 1 MiB, incompressible"
	reqRead4     = "read 4 KiB"
	reqRead100   = "read 100 KiB"
	reqRead1M    = "read 1 MiB of source"
	reqReadNoise = "read 1 MiB, incompressible"
	reqHistory   = "a file's history"
	reqBatch     = "batch, 20 new files of 4 KiB"
	reqFeed      = "feed, 50 events"
	reqComment   = "comment"
	reqChat      = "chat (no model)"
	reqStream    = "chat, streamed (no model)"
	reqGenerate  = "generate (no model)"
	reqTenSecs   = "+ 10 s that a model takes"
	reqUnheard   = "event without a subscriber"
	reqLone      = "delivery, 1 subscriber, lone"
	reqFlow      = "delivery, 10 subscribers, stream"
)

// requests are those of a user with four projects.
func requests(w *rig.Workshop, documents []string) []request {
	work, grows, two, batches := w.Projects[0], w.Projects[1], w.Projects[2], w.Projects[3]
	nth := func(name string, n int) string { return "/" + name + "/" + strconv.Itoa(n) + ".ts" }
	setUp := func(n int) error { // two files, once
		if n > 0 {
			return nil
		}
		if err := w.Save(two, "/a.ts", 4<<10); err != nil {
			return err
		}
		return w.Save(two, "/b.ts", 4<<10)
	}
	message := map[string]any{"projectId": two, "message": "Create a table of invoices with number, date and total."}
	all := []request{
		{name: "sign-up", do: func(int) error { fields, _, _ := rig.Newcomer(); return w.Post("/api/auth/signup", fields) }},
		{name: reqLogin, do: func(int) error {
			return w.Post("/api/auth/login", map[string]any{"email": w.Account.Email, "password": w.Account.Password})
		}},
		{name: reqMe, do: func(int) error { return w.Me() }},
		{name: reqList, do: nil},
		{name: reqCreate, do: func(n int) error {
			return w.Post("/api/projects", map[string]any{"name": "Another " + strconv.Itoa(n)})
		}},
		{name: reqProject, before: setUp, do: func(int) error { return w.Ask("/api/projects/" + two) }},
		{name: reqListing, do: func(int) error { return w.Ask("/api/projects/" + two + "/files") }},
		{name: "save 4 KiB, new file", do: func(n int) error { return w.Save(grows, nth("new", n), 4<<10) }},
		{name: reqSave4, do: func(int) error { return w.Save(work, "/4.ts", 4<<10) }},
		{name: reqSave100, do: func(int) error { return w.Save(work, "/100.ts", 100<<10) }},
		{name: reqSave1M, do: func(int) error { return w.Save(work, "/1024.ts", 1<<20) }},
		{name: "save 100 KiB, incompressible", do: func(int) error { return w.SaveNoise(work, "/100.bin", 100<<10) }},
		{name: reqSaveNoise, do: func(int) error { return w.SaveNoise(work, "/1024.bin", 1<<20) }},
		{name: reqRead4, do: func(int) error { return w.Read(work, "/4.ts") }},
		{name: reqRead100, do: func(int) error { return w.Read(work, "/100.ts") }},
		{name: reqRead1M, do: func(int) error { return w.Read(work, "/1024.ts") }},
		{name: "read 100 KiB, incompressible", do: func(int) error { return w.Read(work, "/100.bin") }},
		{name: reqReadNoise, do: func(int) error { return w.Read(work, "/1024.bin") }},
		{name: reqHistory, do: func(int) error { return w.Ask("/api/projects/" + work + "/files/history?path=/4.ts") }},
		{name: "rename a file", before: func(n int) error { return w.Save(grows, nth("old", n), 4<<10) }, do: func(n int) error {
			return w.Batch(grows, map[string]any{"op": "rename", "path": nth("old", n), "to": nth("renamed", n)})
		}},
		{name: "delete a file", before: func(n int) error { return w.Save(grows, nth("gone", n), 4<<10) }, do: func(n int) error {
			_, err := w.Do(http.MethodDelete, "/api/projects/"+grows+"/files?path="+nth("gone", n), nil)
			return err
		}},
		{name: reqBatch, do: func(n int) error {
			var operations []map[string]any
			for file := range rig.MaxBatch {
				operations = append(operations, map[string]any{"op": "create", "path": nth(strconv.Itoa(n), file), "content": rig.Source(4 << 10)})
			}
			return w.Batch(batches, operations...)
		}},
		{name: reqFeed, do: func(int) error { return w.Ask("/api/projects/" + batches + "/events") }},
		{name: reqComment, do: func(int) error { return w.Post("/api/projects/"+work+"/comments", map[string]any{"body": "Nice."}) }},
		{name: reqChat, streamed: true, do: func(int) error { return w.Post("/api/ai/chat", message) }},
		{name: reqStream, streamed: true, do: func(int) error { return w.Post("/api/ai/chat/stream", message) }},
		{name: reqGenerate, streamed: true, do: func(int) error { return w.Post("/api/ai/generate", map[string]any{"prompt": "A table of invoices."}) }},
	}
	for _, path := range documents {
		all = append(all, request{name: "GET " + path, do: func(int) error { return w.Ask(path) }})
	}
	return all
}

// documents are the paths of the API's description, where the template has a function that serves them.
func documents(parts *rig.Assembly) []string {
	var paths []string
	for _, path := range []string{"/api/docs", "/api/openapi.json"} {
		if slices.ContainsFunc(parts.Stack.APIs[0].Routes, func(r stack.Route) bool { return takes(r.Path, path) }) {
			paths = append(paths, path)
		}
	}
	return paths
}

// priceRequests makes each request and takes what the meter says.
func (b *bench) priceRequests(ctx context.Context, parts *rig.Assembly, meter *rig.Meter) error {
	w, err := rig.NewWorkshop(ctx, parts.URL, 4)
	if err != nil {
		return err
	}
	defer w.Close()
	one, err := rig.NewWorkshop(ctx, parts.URL, 1) // a workspace with one project
	if err != nil {
		return err
	}
	defer one.Close()
	for _, r := range requests(w, documents(parts)) {
		c := w.Connection
		if r.name == reqList {
			c, r.do = one.Connection, func(int) error { return one.Ask("/api/projects") }
		}
		for n := 0; r.before != nil && n <= costRuns; n++ {
			if err := r.before(n); err != nil {
				return fmt.Errorf("before %s: %w", r.name, err)
			}
		}
		if err := r.do(0); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		meter.Settle()
		meter.Take()
		c.Received()
		for n := 1; n <= costRuns; n++ {
			if err := r.do(n); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
		meter.Settle()
		taken, err := meter.TakeTypical(costRuns)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		received := float64(c.Received()) / costRuns
		taken.OutBytes = received
		taken.Gateway = price.Requests(int(received), r.streamed)
		taken.Traces = price.TracedShare
		b.rows = append(b.rows, costRow{r.name, taken})
	}
	return nil
}

// deliveryLoads are the ways in which deliveries come whose cost is measured.
var deliveryLoads = []struct {
	name                string
	subscribers, events int
	lone                bool
}{
	{reqLone, 1, 40, true}, {"delivery, 1 subscriber, stream", 1, 1200, false},
	{"delivery, 10 subscribers, lone", 10, 10, true}, {reqFlow, 10, 240, false},
}

// priceDeliveries takes what events and deliveries cost behind the request that made them.
func (b *bench) priceDeliveries(ctx context.Context, p *pipeline) error {
	taken, err := p.unheard(ctx, 10)
	if err != nil {
		return err
	}
	b.rows = append(b.rows, costRow{reqUnheard, taken})
	for _, load := range deliveryLoads {
		taken, err := p.deliver(ctx, load.subscribers, load.events, load.lone)
		if err != nil {
			return err
		}
		b.rows = append(b.rows, costRow{load.name, taken})
	}
	return nil
}

// takes tells whether a route's pattern takes the path.
func takes(pattern, path string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "{proxy+}"); ok {
		return strings.HasPrefix(path, prefix)
	}
	return pattern == path
}
