package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"devplatform/infra/bench/rig"
	"devplatform/infra/process"
)

// latencyOnAWS is the time that a call to DynamoDB takes on AWS. The second platform of the section operations adds it
// to each call.
const latencyOnAWS = 4 * time.Millisecond

// operation is a request of the section operations.
type operation struct {
	name  string
	route string // as in the request log
	do    func(n int) error
}

// operations shows for each operation the number of its calls to DynamoDB, how many of them wait for each other
// (depth), its CPU time, and its latency: on this machine, with 4 ms for each call as on AWS, and with 16 connections.
func (b *bench) operations(ctx context.Context) error {
	local, err := b.platform(ctx, "operations", "LOG_FORMAT=json", "LOG_LEVEL=debug")
	if err != nil {
		return err
	}
	defer local.Stop()
	slow, err := b.platform(ctx, "operations-aws", "DYNAMODB_LATENCY="+latencyOnAWS.String())
	if err != nil {
		return err
	}
	defer slow.Stop()
	section("OPERATIONS. Calls to DynamoDB, CPU time of the platform, p50; with 4 ms for each call; with 16 connections",
		"calls", "depth", "CPU", "p50", "p50 on AWS", "requests/s", "p99")
	here, err := newOperations(ctx, local)
	if err != nil {
		return err
	}
	there, err := newOperations(ctx, slow)
	if err != nil {
		return err
	}
	for i, name := range here[0].names() {
		single, err := drive(1, singleTime, here[0].do(i))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		calls, depth, err := here[0].logged(local, i)
		if err != nil {
			return err
		}
		onAWS, err := drive(1, singleTime, there[0].do(i))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		before := process.CPU(local.PID())
		many, err := drive(clients, loadTime, func(client int) error { return here[client].do(i)(client) })
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		// drive also sends requests for a tenth of loadTime before it counts them.
		cpu := time.Duration(float64(process.CPU(local.PID())-before) / (many.perSecond * 1.1 * loadTime.Seconds()))
		row(name, calls, depth, cpu, at(single.Histogram, 50), at(onAWS.Histogram, 50), many.perSecond,
			at(many.Histogram, 99))
	}
	return nil
}

// connection sends the requests of the section operations with its own project.
type connection struct {
	requests []operation
	sent     []int // by request
}

func (c *connection) names() []string {
	var names []string
	for _, r := range c.requests {
		names = append(names, r.name)
	}
	return names
}

// do returns a function that sends a request.
func (c *connection) do(i int) func(int) error {
	return func(int) error {
		c.sent[i]++
		return c.requests[i].do(c.sent[i])
	}
}

// logged returns the number of calls and the depth of the newest request in the log of the platform.
func (c *connection) logged(p *process.Process, i int) (calls, depth int, err error) {
	lines := strings.Split(strings.TrimSpace(p.Log.String()), "\n")
	for _, line := range slices.Backward(lines) {
		var request struct {
			Operation                    string
			DynamodbCalls, DynamodbDepth int
		}
		if json.Unmarshal([]byte(line), &request) == nil && request.Operation == c.requests[i].route {
			return request.DynamodbCalls, request.DynamodbDepth, nil
		}
	}
	return 0, 0, errors.New("the log has no request " + c.requests[i].route)
}

// newOperations returns 16 connections of an account, each with a project.
func newOperations(ctx context.Context, p *process.Process) ([]*connection, error) {
	account, err := rig.SignUp(ctx, p.URL)
	if err != nil {
		return nil, err
	}
	projects, err := account.Projects(clients + 1)
	if err != nil {
		return nil, err
	}
	if _, err := account.Create("/api/projects", rig.Object{"name": "Taken"}); err != nil {
		return nil, err
	}
	shared := projects[clients]
	if err := account.Fill(shared, 1000); err != nil {
		return nil, err
	}
	connected, err := dial(ctx, account, clients)
	if err != nil {
		return nil, err
	}
	return parallel(clients, func(i int) (*connection, error) {
		c := &connection{requests: requestsOf(connected[i], projects[i], shared, i)}
		c.sent = make([]int, len(c.requests))
		return c, connected[i].Save(projects[i], "/read.ts", 4<<10)
	})
}

// requestsOf returns the requests of a connection. shared is a project of 1,000 files that all connections use.
func requestsOf(c *rig.Client, project, shared string, client int) []operation {
	const files = "/api/projects/{id}/files"
	base := "/api/projects/" + project
	get := func(path string) func(int) error { return func(int) error { return c.Get(path) } }
	chat := rig.Object{"projectId": project, "message": "Create a table of invoices with number, date and total."}
	return []operation{
		{"me", "GET /api/auth/me", get("/api/auth/me")},
		{"list of 18 projects", "GET /api/projects", get("/api/projects")},
		{"page of 10 of them", "GET /api/projects", get("/api/projects?limit=10")},
		{"project", "GET /api/projects/{id}", get(base)},
		{"list of 1,000 files", "GET " + files, get("/api/projects/" + shared + "/files")},
		{"file of 4 KiB", "GET " + files, func(int) error { return c.Read(project, "/read.ts") }},
		{"history", "GET " + files + "/history", get(base + "/files/history?path=/read.ts")},
		{"feed", "GET /api/projects/{id}/events", get(base + "/events?limit=10")},
		{"comments", "GET /api/projects/{id}/comments", get(base + "/comments")},
		{"webhooks", "GET /api/webhooks", get("/api/webhooks")},
		{"project with a taken name, and deletion", "POST /api/projects", func(int) error {
			id, err := c.Create("/api/projects", rig.Object{"name": "Taken"})
			if err != nil {
				return err
			}
			_, err = c.Do(http.MethodDelete, "/api/projects/"+id, nil)
			return err
		}},
		{"save 4 KiB", "POST " + files, func(int) error { return c.Save(project, "/save.ts", 4<<10) }},
		{"create 4 KiB, in one project", "POST " + files, func(n int) error {
			return c.Save(shared, fmt.Sprintf("/new/%d-%d.ts", client, n), 4<<10)
		}},
		{"create, and delete", "DELETE " + files, func(int) error {
			if err := c.Save(project, "/gone.ts", 100); err != nil {
				return err
			}
			_, err := c.Do(http.MethodDelete, base+"/files?path=/gone.ts", nil)
			return err
		}},
		{"batch of 5 files", "POST " + files + "/batch", func(n int) error {
			var paths []string
			for i := range 5 {
				paths = append(paths, "/batch"+strconv.Itoa(n)+"/"+strconv.Itoa(i)+".ts")
			}
			return c.Batch(project, "create", 1<<10, paths...)
		}},
		{"comment", "POST /api/projects/{id}/comments", func(int) error {
			return c.Post(base+"/comments", rig.Object{"body": "Nice."})
		}},
		{"chat", "POST /api/ai/chat/stream", func(int) error { return c.Post("/api/ai/chat/stream", chat) }},
		{"login", "POST /api/auth/login", func(int) error {
			return c.Post("/api/auth/login", rig.Object{"email": c.Email, "password": c.Password})
		}},
	}
}
