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
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/infra/testmode"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/job"
	"devplatform/shared/workspace"
)

// world is a project with the operations on it.
type world struct {
	*fixture
	t       *rapid.T
	user    *user
	project string
	label   string     // the first label of the site
	held    []building // what workers have claimed
	model   model
}

// TestModel runs random operations of clients and workers, and compares the stored state with the model after each.
// Some operations are killed, or run in the middle of other operations.
func TestModel(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.limits = deployment.Limits{ProjectMinute: 1000, AccountDay: 1000}
	f.builds = modelBuilds
	f.restart()
	other := f.newUser("other")
	other.deployAndBuild(other.newProject("Taken", workspace.Team))
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		if runs++; runs > 25 && !testmode.IsNightly() {
			return
		}
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
	w.Clock.Advance(time.Second)
	one := w.draw("operation")
	p := &slicetest.Process{RunsAfter: rapid.Bool().Draw(w.t, "after"), Step: sample(w.t, numbers(5), "at call")}
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
	err := one.run(w.process(dynamotest.Client(w.Endpoint, func(o *dynamodb.Options) {
		o.HTTPClient, o.Retryer = p, aws.NopRetryer{}
	})))
	if !p.IsKilled() {
		_ = w.check(err)
	}
	got := w.observe()
	var diffs []string
	for _, want := range candidates {
		diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(modelDeployment{}, "Token")) // it is random
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
		for _, known := range []error{job.ErrNotClaimable, job.ErrLost, db.ErrStale} {
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
		return !d.Leased && d.waits()
	})
	ready := w.pick(label+": ready", n, func(d modelDeployment) bool { return d.Status == deployment.Ready })
	ids := w.ids()
	caller, p := w.user.Caller(), w.project
	target := sample(w.t, []deployment.Target{deployment.Production, deployment.Preview}, label+": target")
	now, ctx := w.Clock.Now(), context.Background()
	steps := []step{
		{"deploy", func(m *model) { m.deploy(target, w.label) }, func(s *services) error {
			return second(s.deployments.CreateDeployment(ctx, caller, deployInput(p, target)))
		}},
		{"claim", func(m *model) { m.claim(waiting) }, func(s *services) error {
			j, err := s.jobs.Claim(ctx, p, ids[waiting], now)
			if err == nil && j.Kind == deployment.BuildJob {
				w.held = append(w.held, building{deployment.Deployment{Summary: deployment.Summary{Number: waiting}}, j})
			}
			return err
		}},
		{"promote", func(m *model) { m.promote(ready) }, func(s *services) error {
			return second(s.deployments.PromoteDeployment(ctx, caller, ref(p, ids[ready])))
		}},
		{"cancel", func(m *model) { m.cancel(n) }, func(s *services) error {
			return second(s.deployments.CancelDeployment(ctx, caller, ref(p, ids[n])))
		}},
		{"delete", func(m *model) { m.delete(ready) }, func(s *services) error {
			return second(s.deployments.DeleteDeployment(ctx, caller, ref(p, ids[ready])))
		}},
		{"go offline", (*model).offline, func(s *services) error {
			return second(s.deployments.TakeSiteOffline(ctx, caller, &ref(p, "").InProject))
		}},
	}
	steps = append(steps, w.siteSteps(label)...)
	steps = append(steps, w.workerSteps(label, now)...)
	steps = append(steps, steps[0], steps[1], steps[1]) // more often
	if sample(w.t, numbers(20), label+": may end") == 1 {
		steps = []step{
			{"delete the project", (*model).deleteProject, func(s *services) error {
				return second(s.project.DeleteProject(ctx, caller, &ref(p, "").InProject))
			}},
			{"expire the leases", (*model).expire, func(*services) error {
				w.Clock.Advance(job.LeaseTime)
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
	ctx, caller, p := context.Background(), w.user.Caller(), w.project
	next := sample(w.t, []string{w.label, w.label + "-b", "taken"}, label+": label")
	spa := rapid.Bool().Draw(w.t, label+": spa")
	return []step{
		{"move", func(m *model) {
			if m.Label != "" && next != "taken" {
				m.Label, m.SPA = next, spa
			}
		}, func(s *services) error {
			return second(s.deployments.UpdateSite(ctx, caller, siteInput(p, &next, &spa)))
		}},
		{"set spa", func(m *model) { m.SPA = m.Label != "" && spa }, func(s *services) error {
			return second(s.deployments.UpdateSite(ctx, caller, siteInput(p, nil, &spa)))
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
		held = slices.DeleteFunc(slices.Clone(held), func(d building) bool {
			return w.model.Deployments[d.Number].Token != d.job.Lease
		})
	}
	if len(held) == 0 {
		held = w.held
	}
	d := sample(w.t, held, label+": worker")
	finish := func(status deployment.Status, o deployment.Outcome) step {
		apply := func(m *model) { m.finish(d.Number, d.job.Lease, status) }
		return step{"finish " + string(status), apply, func(s *services) error {
			return second(s.store.Finish(ctx, d.job, o, now))
		}}
	}
	begin := step{"begin", func(m *model) { m.begin(d.Number, d.job.Lease) }, func(s *services) error {
		_, err := s.store.Begin(ctx, d.job, now)
		return err
	}}
	ready := finish(deployment.Ready, deployment.Outcome{Files: 1, Bytes: 10})
	failed := finish(deployment.Failed, deployment.Outcome{
		Error: &failure.Error{Code: failure.BuildFailed}, Log: []deployment.LogLine{{Text: "x"}},
	})
	return append(steps, begin, begin, begin, ready, ready, failed,
		step{"release", func(m *model) { m.release(d.Number, d.job.Lease) }, func(s *services) error {
			return s.jobs.Release(ctx, d.job, now)
		}})
}

// sweep does the jobs that are due and remove deployments.
func (w *world) sweep(s *services) error {
	ctx := context.Background()
	all, err := s.jobs.Due(ctx, w.Clock.Now(), 100)
	for _, j := range all {
		if err == nil && j.OwnerID == w.project && j.Kind == deployment.RemovalJob {
			if j, err = s.jobs.Claim(ctx, j.OwnerID, j.ID, w.Clock.Now()); err == nil {
				err = s.store.FinishRemoval(ctx, j)
			}
		}
	}
	return err
}
