package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// meter stands in front of DynamoDB and SQS, asks every call what it consumes, and sums the answers.
type meter struct {
	next http.Handler
	// table, if set, is what a call must name to be counted.
	table string

	mu                 sync.Mutex
	calls, read, write float64
	queue              float64 // requests to queues
}

// writes names the operations whose units are write units.
func writes(target string) bool {
	_, operation, _ := strings.Cut(target, ".")
	switch operation {
	case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems":
		return true
	}
	return false
}

func (m *meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	target := r.Header.Get("X-Amz-Target")
	counts := strings.HasPrefix(target, "DynamoDB_") && bytes.Contains(asked, []byte(m.table))
	if counts {
		asked = bytes.Replace(asked, []byte("{"), []byte(`{"ReturnConsumedCapacity":"TOTAL",`), 1)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(asked)), int64(len(asked))
	answer := httptest.NewRecorder()
	m.next.ServeHTTP(answer, r)
	switch {
	case counts:
		m.count(target, answer.Body.Bytes())
	case strings.HasPrefix(target, "AmazonSQS."):
		m.countQueue(target, answer.Body.Bytes())
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// countQueue counts a request to a queue, unless it is a receive that brought nothing: how many there are of those depends on
// how long nothing happens.
func (m *meter) countQueue(target string, answer []byte) {
	if target == "AmazonSQS.ReceiveMessage" && !bytes.Contains(answer, []byte("ReceiptHandle")) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue++
}

// count adds what an answer says it consumed: one table's units, or a list of them.
func (m *meter) count(target string, answer []byte) {
	type consumed struct{ CapacityUnits float64 }
	var said struct{ ConsumedCapacity json.RawMessage }
	var list []consumed
	_ = json.Unmarshal(answer, &said)
	if json.Unmarshal(said.ConsumedCapacity, &list) != nil {
		var one consumed
		_ = json.Unmarshal(said.ConsumedCapacity, &one)
		list = []consumed{one}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	for _, c := range list {
		if writes(target) {
			m.write += c.CapacityUnits
		} else {
			m.read += c.CapacityUnits
		}
	}
}

// take answers what was consumed since the last time.
func (m *meter) take() (calls, read, write float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls, read, write = m.calls, m.read, m.write
	m.calls, m.read, m.write = 0, 0, 0
	return calls, read, write
}

// takeQueue answers how many requests to queues there were since the last time.
func (m *meter) takeQueue() (requests float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	requests, m.queue = m.queue, 0
	return requests
}

// costs shows what requests cost in DynamoDB: calls, and the units that AWS bills.
func (b *bench) costs(ctx context.Context) error {
	var invoked timed
	m := &meter{}
	parts, err := b.assemble(ctx, "costs", &invoked, func(db http.Handler) http.Handler { m.next = db; return m })
	if err != nil {
		return err
	}
	defer parts.close()
	_, w, err := newWorkshop(ctx, parts.url, 1)
	if err != nil {
		return err
	}
	defer w.close()
	project := "/api/projects/" + w.projects[0]
	b.printf("\nWhat requests cost in DynamoDB (units as AWS bills them; a transaction's count double)\n")
	b.printf("%-44s %8s %12s %12s\n", "request", "calls", "read units", "write units")
	m.take()
	for _, r := range []struct {
		name string
		do   func() error
	}{
		{"GET /api/auth/me", w.get},
		{"GET /api/projects (1 workspace, 1 project)", func() error { return w.ask("/api/projects") }},
		{"POST /api/projects", func() error {
			_, err := w.create("/api/projects", map[string]any{"name": "Another"})
			return err
		}},
		{"save 4 KiB, new file", func() error { return w.save(w.projects[0], "/a.ts", 4<<10) }},
		{"save 4 KiB", func() error { return w.save(w.projects[0], "/a.ts", 4<<10) }},
		{"save 100 KiB", func() error { return w.save(w.projects[0], "/a.ts", 100<<10) }},
		{"save 1 MiB of source", func() error { return w.save(w.projects[0], "/a.ts", 1<<20) }},
		{"save 1 MiB, incompressible", func() error { return w.saveNoise(w.projects[0], "/noise.bin", 1<<20) }},
		{"read 1 MiB, incompressible", func() error { return w.read(w.projects[0], "/noise.bin") }},
		{"read 1 MiB of source", func() error { return w.read(w.projects[0], "/a.ts") }},
		{"GET project with 2 files", func() error { return w.ask(project) }},
		{"GET its files", func() error { return w.ask(project + "/files") }},
		{"GET a file's history", func() error { return w.ask(project + "/files/history?path=/a.ts") }},
		{"GET its feed", func() error { return w.ask(project + "/events") }},
		{"POST a comment", func() error {
			_, err := w.create(project+"/comments", map[string]any{"body": "Nice."})
			return err
		}},
		{"rename a file", func() error { return w.batch(map[string]any{"op": "rename", "path": "/a.ts", "to": "/b.ts"}) }},
		{"DELETE a file", func() error { return w.batch(map[string]any{"op": "delete", "path": "/b.ts"}) }},
	} {
		if err := r.do(); err != nil {
			return err
		}
		calls, read, write := m.take()
		b.printf("%-44s %8.0f %12.1f %12.1f\n", r.name, calls, read, write)
	}
	return nil
}

// ask gets something and forgets the answer.
func (c *connection) ask(path string) error {
	_, err := c.do(http.MethodGet, path, nil)
	return err
}

// batch runs one operation on the first project's files.
func (w *workshop) batch(operations ...map[string]any) error {
	_, err := w.do(http.MethodPost, "/api/projects/"+w.projects[0]+"/files/batch", encode(map[string]any{"operations": operations}))
	return err
}

// saveNoise writes a binary file that nothing compresses.
func (c *connection) saveNoise(project, path string, size int) error {
	noise := make([]byte, size)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	_, err := c.do(http.MethodPost, "/api/projects/"+project+"/files", encode(map[string]any{
		"path": path, "content": base64.StdEncoding.EncodeToString(noise), "encoding": "base64",
	}))
	return err
}
