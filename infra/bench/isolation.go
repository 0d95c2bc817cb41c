package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"devplatform/infra/bench/rig"
	"devplatform/infra/hooktest"
)

// patience is the time after which a series of lone deliveries, one after the other, ends.
const patience = 70 * time.Second

// noise describes a tenant that makes many events for endpoints that hang, are slow or fail.
type noise struct {
	name                           string
	accounts, workspaces, webhooks int // the workspaces in each account, and the webhooks in each workspace
	path                           string
	fails                          bool // whether the endpoints respond with 500 after their first event
	// events is the number of events in each workspace, batch the number of events in a request.
	events, batch int
	interval      time.Duration // between two requests of a workspace
}

var noises = []noise{
	{
		name: "400 endpoints hang, 300 changes at once", path: "/hang/%d",
		accounts: 4, workspaces: 5, webhooks: 20, events: 15, batch: 15,
	},
	{
		name: "1 endpoint takes 14 s, 20 changes/s", path: "/slow/%d?ms=14000",
		accounts: 1, workspaces: 1, webhooks: 1, events: 1400, batch: 1, interval: time.Second / 20,
	},
	{
		name: "20 endpoints fail at once, 5000 changes", path: "/ok/%d", fails: true,
		accounts: 1, workspaces: 20, webhooks: 1, events: 250, batch: rig.MaxBatch,
	},
}

// isolation measures the lone deliveries of one tenant while another tenant makes noise, each case on its own platform.
func (b *bench) isolation(ctx context.Context) error {
	section(fmt.Sprintf("ISOLATION: %d lone deliveries of one tenant, from the first change of another tenant on", b.lone),
		"p50", "p99", "slowest", "missing")
	for i, n := range noises {
		if err := b.isolate(ctx, fmt.Sprintf("isolation-%d", i), n); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
	}
	return nil
}

// isolate measures one case: first while the webhooks of the noisy tenant are inactive, then while they are active.
func (b *bench) isolate(ctx context.Context, dir string, n noise) error {
	p, err := b.platform(ctx, dir)
	if err != nil {
		return err
	}
	defer p.Stop()
	quiet, err := newSubscriber(ctx, p.URL, 1)
	if err != nil {
		return err
	}
	defer quiet.receiver.Close()
	noisy, err := newNoisyTenant(ctx, p.URL, n)
	if err != nil {
		return err
	}
	defer noisy.receiver.Close()
	printf("%s\n", n.name)
	off, err := b.loneDuring(ctx, "  switched off", quiet, noisy)
	if err != nil {
		return err
	}
	if err := noisy.activate(ctx); err != nil {
		return err
	}
	on, err := b.loneDuring(ctx, "  noisy", quiet, noisy)
	if err != nil {
		return err
	}
	if noisy.receiver.Total() == 0 {
		return errors.New("no delivery of the noisy tenant was attempted")
	}
	var ratios []any
	for i := range on {
		ratios = append(ratios, ratio(on[i], off[i]))
	}
	row("  ratio", ratios...)
	return nil
}

// loneDuring prints and returns the p50, the p99 and the maximum of b.lone deliveries of the quiet tenant.
func (b *bench) loneDuring(
	ctx context.Context, name string, quiet *subscriber, noisy *noisyTenant,
) ([]time.Duration, error) {
	stop := noisy.begin(ctx)
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	times, missing, err := quiet.changeOneByOne(limited, b.lone)
	if err := errors.Join(err, stop()); err != nil {
		return nil, err
	}
	all := []time.Duration{at(times, 50), at(times, 99), at(times, 100)}
	row(name, all[0], all[1], all[2], missing)
	return all, nil
}

// noisyTenant is a tenant that makes noise. Its webhooks are inactive at first.
type noisyTenant struct {
	noise
	receiver   *hooktest.Receiver
	workspaces []*noisyWorkspace
}

// noisyWorkspace is a workspace with a project, and a connection that makes the events there.
type noisyWorkspace struct {
	*rig.Client
	project  string
	webhooks []string
	files    int // the number of files that were created
}

// newNoisyTenant creates the accounts, workspaces and webhooks.
func newNoisyTenant(ctx context.Context, base string, n noise) (*noisyTenant, error) {
	t := &noisyTenant{noise: n, receiver: hooktest.New(nil)}
	for range n.accounts {
		account, err := rig.SignUp(ctx, base)
		if err != nil {
			return nil, err
		}
		for range n.workspaces {
			if err := t.addWorkspace(ctx, account); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// addWorkspace creates a workspace with a project and webhooks.
func (t *noisyTenant) addWorkspace(ctx context.Context, account *rig.Client) error {
	c, err := account.Dial(ctx)
	if err != nil {
		return err
	}
	workspace, err := c.Create("/api/workspaces", rig.Object{"name": "Noisy"})
	if err != nil {
		return err
	}
	w := &noisyWorkspace{Client: c}
	if w.project, err = c.Create("/api/projects", rig.Object{"name": "Noisy", "workspaceId": workspace}); err != nil {
		return err
	}
	for n := range t.webhooks {
		url := t.receiver.URL(fmt.Sprintf(t.path, len(t.workspaces)*t.webhooks+n))
		id, err := c.Create("/api/webhooks", rig.Object{
			"url": url, "events": []string{"*"}, "workspaceId": workspace, "active": false,
		})
		if err != nil {
			return err
		}
		w.webhooks = append(w.webhooks, id)
	}
	t.workspaces = append(t.workspaces, w)
	return nil
}

// activate activates the webhooks. If the endpoints fail, each of them receives an event first.
func (t *noisyTenant) activate(ctx context.Context) error {
	for i, w := range t.workspaces {
		for _, id := range w.webhooks {
			if _, err := w.Do(http.MethodPut, "/api/webhooks/"+id, rig.Object{"active": true}); err != nil {
				return err
			}
		}
		if !t.fails {
			continue
		}
		if err := w.create(1); err != nil {
			return err
		}
		for n := range t.webhooks {
			path := fmt.Sprintf(t.path, i*t.webhooks+n)
			if _, err := t.receiver.WaitFor(ctx, path, 1); err != nil {
				return err
			}
			t.receiver.Handle(path, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusInternalServerError)
			}))
		}
	}
	return nil
}

// begin begins to make the events in all workspaces, and returns after the first request. stop ends the noise early,
// and returns the first error.
func (t *noisyTenant) begin(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	begun, errs := make(chan struct{}), make(chan error, 1)
	reportBegun := sync.OnceFunc(func() { close(begun) })
	go func() {
		_, err := parallel(len(t.workspaces), func(i int) (struct{}, error) {
			next := time.Now()
			for made := 0; made < t.events && ctx.Err() == nil; made += t.batch {
				if err := t.workspaces[i].create(min(t.batch, t.events-made)); err != nil {
					return struct{}{}, err
				}
				reportBegun()
				next = next.Add(t.interval)
				time.Sleep(time.Until(next))
			}
			return struct{}{}, nil
		})
		reportBegun()
		errs <- err
	}()
	<-begun
	return func() error {
		cancel()
		return <-errs
	}
}

// create creates new files of 64 bytes with one batch.
func (w *noisyWorkspace) create(files int) error {
	var paths []string
	for range files {
		w.files++
		paths = append(paths, fmt.Sprintf("/%d.txt", w.files))
	}
	return w.Batch(w.project, "create", 64, paths...)
}
