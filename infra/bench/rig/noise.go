package rig

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"devplatform/infra/hooktest"
)

// Noise describes a tenant that makes many events for endpoints that hang, are slow or fail.
type Noise struct {
	Accounts   int // of the tenant; it divides the number of writers
	Workspaces int // in each account
	Webhooks   int // in each workspace
	// Path is the format of the receiver's path for the n-th webhook.
	Path string
	// Events is the number of events in each workspace, Batch the number of events in a request.
	Events, Batch int
	// Interval is the time between two requests of a writer.
	Interval time.Duration
}

// Noisy is a tenant that makes noise. Its webhooks are inactive at first.
type Noisy struct {
	Noise
	Receiver *hooktest.Receiver

	writers  []noisyWriter
	webhooks int // in all workspaces
}

// noisyWriter is a connection that makes the events in its own workspaces of an account.
type noisyWriter struct {
	*Connection
	projects []string // one in each workspace
	webhooks []string
	files    int // the number of files that it has created
}

// NewNoisy creates the accounts, workspaces and webhooks.
func NewNoisy(ctx context.Context, base string, noise Noise) (*Noisy, error) {
	n := &Noisy{Noise: noise, Receiver: hooktest.New(nil), writers: make([]noisyWriter, writers)}
	share := writers / noise.Accounts // the writers of an account
	var account *Account
	for i := range n.writers {
		var err error
		if i%share == 0 {
			if account, err = SignUp(ctx, base); err != nil {
				return nil, err
			}
		}
		if n.writers[i].Connection, err = account.Dial(ctx); err != nil {
			return nil, err
		}
		for w := i % share; w < noise.Workspaces; w += share {
			if err := n.addWorkspace(&n.writers[i]); err != nil {
				return nil, err
			}
		}
	}
	return n, nil
}

// addWorkspace creates a workspace with a project and webhooks.
func (n *Noisy) addWorkspace(w *noisyWriter) error {
	workspace, err := w.Create("/api/workspaces", map[string]any{"name": "Noisy"})
	if err != nil {
		return err
	}
	project, err := w.Create("/api/projects", map[string]any{"name": "Noisy", "workspaceId": workspace})
	if err != nil {
		return err
	}
	w.projects = append(w.projects, project)
	for range n.Webhooks {
		id, err := w.Create("/api/webhooks", map[string]any{
			"url":    n.Receiver.URL(fmt.Sprintf(n.Path, n.webhooks)),
			"events": []string{"*"}, "workspaceId": workspace, "active": false,
		})
		if err != nil {
			return err
		}
		w.webhooks = append(w.webhooks, id)
		n.webhooks++
	}
	return nil
}

// Close closes the connections and the receiver.
func (n *Noisy) Close() {
	n.Receiver.Close()
	for _, w := range n.writers {
		w.Close()
	}
}

// Activate activates the webhooks.
func (n *Noisy) Activate() error {
	for _, w := range n.writers {
		for _, id := range w.webhooks {
			if _, err := w.Do(http.MethodPut, "/api/webhooks/"+id, Encode(map[string]any{"active": true})); err != nil {
				return err
			}
		}
	}
	return nil
}

// Break makes the endpoints respond with 500, after each of them has received an event.
func (n *Noisy) Break(ctx context.Context) error {
	for i := range n.writers {
		for _, project := range n.writers[i].projects {
			if err := n.writers[i].create(project, 1); err != nil {
				return err
			}
		}
	}
	for i := range n.webhooks {
		path := fmt.Sprintf(n.Path, i)
		if _, err := n.Receiver.WaitFor(ctx, path, 1); err != nil {
			return fmt.Errorf("noise: %w", err)
		}
		n.Receiver.Handle(path, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
		}))
	}
	return nil
}

// Start begins to make the events, with all writers in parallel. It returns after the first request. stop ends the
// noise early, and returns the first error.
func (n *Noisy) Start(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	errs := make(chan error, 1)
	go func() {
		_, err := Together(len(n.writers), func(i int) (struct{}, error) {
			return struct{}{}, n.write(ctx, &n.writers[i], begin)
		})
		begin()
		errs <- err
	}()
	<-begun
	return func() error {
		cancel()
		return <-errs
	}
}

// write makes the events of a writer: one request in each of its workspaces, then the next one in each, until all
// events are made or ctx is done. It calls begin after each request.
func (n *Noisy) write(ctx context.Context, w *noisyWriter, begin func()) error {
	next := time.Now()
	for made := 0; made < n.Events; made += n.Batch {
		for _, project := range w.projects {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // the noise ends here
			}
			if err := w.create(project, min(n.Batch, n.Events-made)); err != nil {
				return err
			}
			begin()
			next = next.Add(n.Interval)
			time.Sleep(time.Until(next))
		}
	}
	return nil
}

// create creates new files in a project with one batch.
func (w *noisyWriter) create(project string, files int) error {
	var operations []map[string]any
	for range files {
		w.files++
		operations = append(operations, map[string]any{
			"op": "create", "path": fmt.Sprintf("/%d.txt", w.files), "content": Source(64),
		})
	}
	return w.Batch(project, operations...)
}
