package deployment_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/site"
	"devplatform/shared/workspace"

	jsonv2 "github.com/go-json-experiment/json"
)

// world is a project with the operations on it.
type world struct {
	*fixture
	t       *rapid.T
	user    *user
	project string
	label   string // the first label of the site
	tokens  int
	held    []deployment.Deployment // what Begin returned
	model   model
}

// TestModel runs random operations of clients and workers, some of which are killed or run in the middle of others, and
// compares what is stored with the model after each.
func TestModel(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.limits = deployment.Limits{ProjectMinute: 1000, AccountDay: 1000, AccountBytes: 1 << 40}
	f.builds = modelBuilds
	f.restart()
	other := f.newUser("other")
	other.deployed(other.newProject("Taken", workspace.Team))
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		w := &world{fixture: f, t: rt, user: f.newUser(fmt.Sprintf("user%d", runs)), label: fmt.Sprintf("project-%d", runs)}
		w.project = w.user.newProject("Project "+fmt.Sprint(runs), workspace.Team)
		w.model = model{Exists: true, Deployments: map[int]modelDeployment{}, Events: map[string]int{}}
		for range 10 + sample(rt, numbers(30), "steps") {
			w.step()
		}
	})
}

// step runs one operation, or two at the same time, and compares the result with the model.
func (w *world) step() {
	w.clock.Advance(time.Second)
	one := w.draw("operation")
	p := &slicetest.Process{Executes: rapid.Bool().Draw(w.t, "after"), Step: sample(w.t, numbers(5), "at call")}
	candidates := []model{w.model.after(one)}
	switch sample(w.t, []string{"nothing", "nothing", "killed", "another operation"}, "meanwhile") {
	case "nothing":
		p.Step = 0
	case "killed":
		p.At = slicetest.Kill
		candidates = append(candidates, w.model)
	default:
		two := w.draw("operation meanwhile")
		candidates = append(candidates, w.model.after(one, two), w.model.after(two, one))
		p.At = func() error { return w.check(two.run(w.services)) }
	}
	err := one.run(w.process(dynamotest.Client(w.endpoint, func(o *dynamodb.Options) {
		o.HTTPClient, o.Retryer = p, aws.NopRetryer{}
	})))
	if !p.IsKilled() {
		_ = w.check(err)
	}
	got := w.observe()
	var diffs []string
	for _, want := range candidates {
		diff := cmp.Diff(want, got)
		if diff == "" {
			w.model = got
			return
		}
		diffs = append(diffs, diff)
	}
	w.t.Fatalf("%s: the stored state is none of the possible ones (-want +got):\n%s", one.name, strings.Join(diffs, "\n"))
}

// check fails the test for an error that no operation may return. It returns nil.
func (w *world) check(err error) error {
	if code := slicetest.CodeOf(err); err != nil && (code == "" || code == "INTERNAL_ERROR") {
		for _, known := range []error{
			deployment.ErrEnded, deployment.ErrLeased, deployment.ErrBusy, deployment.ErrLost, db.ErrStale,
		} {
			if errors.Is(err, known) {
				return nil
			}
		}
		w.t.Fatalf("unexpected error: %v", err)
	}
	return nil
}

// draw draws an operation.
func (w *world) draw(label string) step {
	n := sample(w.t, numbers(max(1, w.model.Number)), label+": deployment")
	waiting := w.pick(label+": waiting", n, func(d modelDeployment) bool {
		return !d.Leased && d.Status != deployment.Ready
	})
	ready := w.pick(label+": ready", n, func(d modelDeployment) bool { return d.Status == deployment.Ready })
	ids := w.ids()
	caller, p := w.user.caller, w.project
	target := sample(w.t, []deployment.Target{deployment.Production, deployment.Preview}, label+": target")
	now, ctx := w.clock.Now(), context.Background()
	w.tokens++
	token := fmt.Sprint("worker ", w.tokens)
	steps := []step{
		{"deploy", func(m *model) { m.deploy(target, w.label) }, func(s *services) error {
			_, err := s.deployments.Deploy(ctx, caller, p, target, "")
			return err
		}},
		{"begin", func(m *model) { m.begin(waiting, token) }, func(s *services) error {
			d, err := s.store.Begin(ctx, p, ids[waiting], token, now)
			if err == nil {
				w.held = append(w.held, d)
			}
			return err
		}},
		{"promote", func(m *model) { m.promote(ready) }, func(s *services) error {
			_, err := s.deployments.Promote(ctx, caller, p, ids[ready])
			return err
		}},
		{"cancel", func(m *model) { m.cancel(n) }, func(s *services) error {
			_, err := s.deployments.Cancel(ctx, caller, p, ids[n])
			return err
		}},
		{"delete", func(m *model) { m.delete(ready) }, func(s *services) error {
			return s.deployments.Delete(ctx, caller, p, ids[ready])
		}},
		{"go offline", (*model).offline, func(s *services) error { return s.deployments.TakeOffline(ctx, caller, p) }},
	}
	steps = append(steps, w.siteSteps(label)...)
	steps = append(steps, w.workerSteps(label, now)...)
	steps = append(steps, steps[0], steps[1], steps[1]) // more often
	if sample(w.t, numbers(20), label+": may end") == 1 {
		steps = []step{
			{"delete the project", (*model).deleteProject, func(s *services) error {
				return s.project.Delete(ctx, caller, p)
			}},
			{"expire the leases", (*model).expire, func(*services) error {
				w.clock.Advance(deployment.LeaseTime)
				return nil
			}},
		}
	}
	return sample(w.t, steps, label)
}

// numbers returns the numbers from 1 to n.
func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i + 1
	}
	return all
}

// sample draws an element. Each is equally likely, which rapid.SampledFrom does not promise.
func sample[T any](t *rapid.T, from []T, label string) T {
	index := rapid.Custom(func(t *rapid.T) int {
		n := 0
		for range 10 {
			n *= 2
			if rapid.Bool().Draw(t, "bit") {
				n++
			}
		}
		return n * len(from) >> 10
	})
	return from[index.Draw(t, label)]
}

// pick draws one of the deployments that match. It returns other if none matches.
func (w *world) pick(label string, other int, matches func(modelDeployment) bool) int {
	var all []int
	for n := 1; n <= w.model.Number; n++ {
		if d, ok := w.model.Deployments[n]; ok && matches(d) {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return other
	}
	return sample(w.t, all, label)
}

// siteSteps returns the changes of the site.
func (w *world) siteSteps(label string) []step {
	ctx, caller, p := context.Background(), w.user.caller, w.project
	next := sample(w.t, []string{w.label, w.label + "-b", "taken"}, label+": label")
	spa := rapid.Bool().Draw(w.t, label+": spa")
	return []step{
		{"move", func(m *model) {
			if m.Label != "" && next != "taken" {
				m.Label, m.SPA = next, spa
			}
		}, func(s *services) error {
			_, err := s.deployments.UpdateSite(ctx, caller, p, deployment.SiteSettings{Label: &next, SPA: &spa})
			return err
		}},
		{"set spa", func(m *model) { m.SPA = m.Label != "" && spa }, func(s *services) error {
			_, err := s.deployments.UpdateSite(ctx, caller, p, deployment.SiteSettings{SPA: &spa})
			return err
		}},
	}
}

// workerSteps returns the operations of a worker that holds or held a lease, and of the sweep.
func (w *world) workerSteps(label string, now time.Time) []step {
	ctx := context.Background()
	steps := []step{{"sweep", nil, func(s *services) error { return w.sweep(s) }}}
	if len(w.held) == 0 {
		return steps
	}
	held := w.held
	if sample(w.t, numbers(4), label+": late") > 1 {
		held = slices.DeleteFunc(slices.Clone(held), func(d deployment.Deployment) bool {
			return !w.model.Deployments[d.Number].Leased || w.model.Deployments[d.Number].Token != d.Lease
		})
	}
	if len(held) == 0 {
		held = w.held
	}
	d := sample(w.t, held, label+": worker")
	finish := func(status deployment.Status, o deployment.Outcome) step {
		apply := func(m *model) { m.finish(d.Number, d.Lease, status) }
		return step{"finish " + string(status), apply, func(s *services) error {
			_, err := s.store.Finish(ctx, d, o, now)
			return err
		}}
	}
	ready := finish(deployment.Ready, deployment.Outcome{Files: 1, Bytes: 10})
	return append(steps, ready, ready, ready,
		finish(deployment.Failed, deployment.Outcome{Error: &failure.Error{Code: failure.BuildFailed}}),
		step{"release", func(m *model) { m.release(d.Number, d.Lease) }, func(s *services) error {
			return s.store.Release(ctx, d, now, 0)
		}},
		step{"log", nil, func(s *services) error {
			return s.store.WriteLog(ctx, d, deployment.LogLine{Text: "x"})
		}})
}

// sweep does what the worker does for deployments that are due and need no build.
func (w *world) sweep(s *services) error {
	all, err := s.store.Due(context.Background(), w.clock.Now(), 100)
	for _, d := range all {
		if err == nil && d.ProjectID == w.project && d.Status != deployment.Queued && d.Status != deployment.Building {
			if d, err = s.store.Wake(context.Background(), d, w.clock.Now().Add(time.Minute)); err == nil {
				err = s.store.Removed(context.Background(), d)
			}
		}
	}
	return err
}

// ids returns the IDs of all deployments by number.
func (w *world) ids() map[int]string {
	ids := map[int]string{}
	for _, d := range w.records() {
		ids[d.Number] = d.ID
	}
	return ids
}

func (w *world) records() []deployment.Deployment {
	items, err := w.projects.QueryAll(context.Background(), db.DeploymentsOf(w.project))
	if err != nil {
		w.t.Fatal(err)
	}
	all, err := db.DecodeAll[deployment.Deployment](items)
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// observe returns what is stored as a model, and checks the addresses.
func (w *world) observe() model {
	m := w.model.clone()
	ctx, now := context.Background(), w.clock.Now()
	if _, err := w.projects.Get(ctx, db.TreeKey(w.project)); err != nil {
		m = model{}
	}
	item, _ := w.projects.Get(ctx, db.SiteKey(w.project))
	s, err := db.Decode[deployment.Site](item)
	if err != nil {
		w.t.Fatal(err)
	}
	numberOf, own := map[string]int{}, map[string]string{}
	if m.Exists {
		m.Deployments = map[int]modelDeployment{}
	}
	for _, d := range w.records() {
		numberOf[d.ID] = d.Number
		if d.Status == deployment.Removing || !m.Exists {
			continue
		}
		m.Deployments[d.Number] = modelDeployment{
			Status: d.Status, Target: d.Target, Sequence: d.Sequence, Token: d.Lease, Interruptions: d.Interruptions,
			Leased: d.Status == deployment.Building && d.Lease != "" && now.Before(d.LeaseEnds.Time()),
		}
		if d.Status == deployment.Ready {
			own[d.Label] = d.ID
		}
		if s.Deployments[d.ID].Status != d.Status {
			w.t.Fatalf("the summary of deployment %d is %+v, want status %s", d.Number, s.Deployments[d.ID], d.Status)
		}
	}
	if m.Exists {
		m.Label, m.SPA, m.Live = s.Label, s.SPA, numberOf[s.DeploymentID]
		m.Sequence, m.LiveSequence, m.Number = s.Sequence, s.LiveSequence, s.Number
		if len(s.Deployments) != len(m.Deployments) {
			w.t.Fatalf("the site has %d summaries, want %d", len(s.Deployments), len(m.Deployments))
		}
	} else if item != nil {
		w.t.Fatal("the site of a deleted project exists")
	}
	m.Events = w.observeEvents()
	w.checkAddresses(m.Exists, s, own)
	return m
}

// observeEvents returns the number of each event of a deployment.
func (w *world) observeEvents() map[string]int {
	items, err := w.client.Table(w.names.events).QueryAll(context.Background(), db.EventsOf(w.project))
	if err != nil {
		w.t.Fatal(err)
	}
	counts := map[string]int{}
	for _, item := range items {
		r, err := event.FromItem(item)
		var p event.Payload
		if err != nil || jsonv2.Unmarshal([]byte(r.Payload), &p) != nil {
			w.t.Fatalf("event %v: %v", r, err)
		}
		if d := p.Data.Deployment; d != nil {
			counts[strings.TrimSpace(fmt.Sprintf("%s %d %s %s", r.Type, d.Version, d.Status, p.Data.Reason))]++
		}
	}
	return counts
}

// checkAddresses checks that the address of the site shows the live deployment, that each ready deployment has its own
// address, and that no other address of the project shows anything.
func (w *world) checkAddresses(exists bool, s deployment.Site, own map[string]string) {
	want := map[string]string{}
	if exists && s.Label != "" {
		for label, deploymentID := range own {
			want[label] = deploymentID
		}
		if s.DeploymentID != "" {
			want[s.Label] = s.DeploymentID
		}
	}
	got := map[string]string{}
	for _, item := range dynamotest.Dump(w.fixture.t, w.sdk, w.names.sites) {
		a, err := db.Decode[site.Address](item)
		if err != nil {
			w.t.Fatal(err)
		}
		label := strings.TrimPrefix(db.KeyOf(item).PK, "ADDRESS#")
		if a.ProjectID != w.project {
			continue
		}
		if a.DeploymentID != "" {
			got[label] = a.DeploymentID
			if a.SPA != s.SPA || a.ReservedFor != "" || !id.Deployment.Valid(a.DeploymentID) {
				w.t.Fatalf("got the address %s: %+v, want spa %v", label, a, s.SPA)
			}
		}
		if isSite := exists && label == s.Label; !strings.Contains(label, "--") && isSite != (a.ReservedFor == "") {
			w.t.Fatalf("got the address %s: %+v of a site with label %s", label, a, s.Label)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Fatalf("wrong addresses (-want +got):\n%s", diff)
	}
}
