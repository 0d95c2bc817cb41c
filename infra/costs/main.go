// Command costs calculates what the service costs on AWS: it counts what requests use on a local platform, and
// multiplies it by AWS's list prices. The result is the same on every machine: no time is measured. COSTS.md describes
// the assumptions and contains the result.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"devplatform/infra/bench/rig"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/stack"
	"devplatform/infra/process"
)

func main() {
	binaries := flag.String("binaries", ".build/local", "folder with the platform's and the functions' binaries")
	document := flag.String("document", "", "document whose tables are replaced")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	result, err := calculate(ctx, *binaries)
	if err == nil {
		_, _ = fmt.Fprint(os.Stdout, result.tables())
		if *document != "" {
			err = write(*document, result.tables())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "costs:", err)
		os.Exit(1)
	}
}

// result is the result of the calculation.
type result struct {
	rows       []*row
	idle, used []entry // of a month
	chats      float64 // in the month of the example
}

// calculate counts what requests use, and calculates the costs.
func calculate(ctx context.Context, binaries string) (*result, error) {
	dir, err := os.MkdirTemp("", "devplatform-costs-")
	if err != nil {
		return nil, fmt.Errorf("temporary folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := stack.Load(template, stack.Options{Parameters: map[string]string{
		"AiProvider": "scaffold", "MailFrom": "no-reply@example.com", "AppUrl": "https://app.example.com",
	}})
	if err != nil {
		return nil, err
	}
	tables := map[string]string{}
	for _, t := range s.Tables {
		tables[t.LogicalID] = t.Name
	}
	m, err := newMeter(dir, tables["EventsTable"], tables["MailTable"])
	if err != nil {
		return nil, err
	}
	defer m.close()
	model := httptest.NewServer(http.HandlerFunc(answer))
	defer model.Close()
	p, err := process.Start(ctx, process.Options{
		Binaries: binaries, Dir: filepath.Join(dir, "data"), Env: append(rig.Settings, "LOG_LEVEL=debug",
			"AWS_ENDPOINT_URL="+m.URL, "AI_PROVIDER=openai", "AI_MODEL=costs", "OPENAI_BASE_URL="+model.URL+"/v1"),
	})
	if err != nil {
		return nil, err
	}
	defer p.Stop()
	return m.calculate(ctx, p, s)
}

// calculate counts what requests to a platform use.
func (m *meter) calculate(ctx context.Context, p *process.Process, s *resources.Stack) (*result, error) {
	jobs := map[string]*row{} // by function
	for _, job := range []struct{ function, sample, name string }{
		{"WebhookRetryFunction", "webhook-retry-schedule", rowJob}, {"JobsFunction", "jobs-schedule", rowSweep},
		{"ProjectCleanupFunction", "project-cleanup-removals-schedule", rowRemovals},
	} {
		var err error
		if jobs[job.function], err = m.countJob(ctx, p, job.function, job.sample, job.name); err != nil {
			return nil, err
		}
	}
	rows, err := m.countRequests(ctx, p)
	if err != nil {
		return nil, err
	}
	byName := map[string]*row{}
	for _, r := range rows {
		byName[r.name] = r
	}
	deliveries, err := m.countDeliveries(ctx, p, byName[rowSave])
	if err != nil {
		return nil, err
	}
	for _, r := range deliveries {
		byName[r.name] = r
	}
	sites, err := m.countSites(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, r := range sites {
		byName[r.name] = r
	}
	idle, used, err := billedResources(template)
	if err != nil {
		return nil, err
	}
	billed := []*row{jobs["WebhookRetryFunction"], jobs["JobsFunction"], jobs["ProjectCleanupFunction"]}
	r := &result{
		rows: slices.Concat(rows, deliveries, sites, billed),
		idle: append(idle, background(s, jobs)...),
	}
	use, chats := exampleMonth(byName)
	r.used, r.chats = append(use, used...), chats
	return r, nil
}

// answer is a model of the OpenAI API that streams an answer of 3,200 characters, which are about 800 tokens.
func answer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	const chunk = `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"costs","choices":[%s]%s}` + "\n\n"
	text := strings.Repeat("of 16 characters", 200)
	_, _ = fmt.Fprintf(w, chunk, `{"index":0,"delta":{"content":"`+text+`"},"finish_reason":"stop"}`, "")
	_, _ = fmt.Fprintf(w, chunk, "", `,"usage":{"prompt_tokens":6000,"completion_tokens":800,"total_tokens":6800}`)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
