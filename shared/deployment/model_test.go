package deployment_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"devplatform/shared/deployment"
)

// model is what a project with a site must look like. Deployments are identified by their numbers.
type model struct {
	Exists       bool
	Label        string // "" before the first deployment
	SPA          bool
	Live         int   // 0 if the site is offline
	Earlier      []int // those that still exist
	Sequence     int
	LiveSequence int
	Number       int
	Deployments  map[int]modelDeployment
	Events       map[string]int // number of each event
}

type modelDeployment struct {
	Status   deployment.Status
	Target   deployment.Target
	Sequence int
	Token    string // of the worker that has claimed the build
	Held     bool   // whether there is a token
	Leased   bool   // whether the lease has not expired
}

// modelBuilds is the limit of builds in progress in the model, which is never reached. TestBuildsInProgress checks the
// limit.
const modelBuilds = 1000

func (m model) clone() model {
	m.Deployments, m.Events, m.Earlier = maps.Clone(m.Deployments), maps.Clone(m.Events), slices.Clone(m.Earlier)
	return m
}

func (m *model) event(kind string, n int, suffix string) {
	m.Events[fmt.Sprintf("%s %d%s", kind, n, suffix)]++
}

func (m *model) set(n int, status deployment.Status) {
	d := m.Deployments[n]
	d.Status = status
	if !d.waits() {
		d.Token, d.Held, d.Leased = "", false, false
	}
	m.Deployments[n] = d
	if status == deployment.Ready || status == deployment.Failed || status == deployment.Canceled {
		m.event("deployment.completed", n, " "+string(status))
	}
}

// step is an operation and its effect on the model.
type step struct {
	name  string
	apply func(m *model) // with a project that exists
	run   func(p *services) error
}

// after returns the model after steps.
func (m model) after(steps ...step) model {
	m = m.clone()
	for _, s := range steps {
		if m.Exists && s.apply != nil {
			s.apply(&m)
		}
	}
	return m
}

func (m *model) deploy(target deployment.Target, label string) {
	if m.Label == "" {
		m.Label = label
	}
	for n, d := range m.Deployments {
		if d.Status == deployment.Queued && d.Target == target {
			m.set(n, deployment.Canceled)
		}
	}
	m.Number++
	m.Sequence++
	m.Deployments[m.Number] = modelDeployment{Status: deployment.Queued, Target: target, Sequence: m.Sequence}
	m.prune()
}

func (m *model) prune() {
	numbers := slices.SortedFunc(maps.Keys(m.Deployments), func(a, b int) int { return cmp.Compare(b, a) })
	for _, n := range numbers[min(20, len(numbers)):] {
		if s := m.Deployments[n].Status; s != deployment.Queued && s != deployment.Building && n != m.Live &&
			!slices.Contains(m.Earlier, n) {
			delete(m.Deployments, n)
		}
	}
}

// waits reports whether a build is to be done.
func (d modelDeployment) waits() bool {
	return d.Status == deployment.Queued || d.Status == deployment.Building
}

func (m *model) claim(n int) {
	if d, ok := m.Deployments[n]; ok && !d.Leased && d.waits() {
		d.Token, d.Held, d.Leased = "new", true, true
		m.Deployments[n] = d
	}
}

func (m *model) begin(n int, token string) {
	if d, ok := m.Deployments[n]; ok && d.Token == token {
		m.set(n, deployment.Building)
	}
}

func (m *model) finish(n int, token string, status deployment.Status) {
	d, ok := m.Deployments[n]
	if !ok || d.Token != token {
		return
	}
	m.set(n, status)
	if status == deployment.Ready && d.Target == deployment.Production && d.Sequence >= m.LiveSequence {
		m.LiveSequence = d.Sequence
		m.goLive(n)
		m.event("project.deployed", n, " ready deploy")
	}
	m.prune()
}

// goLive makes a deployment live. The last five that were live before it, and still exist, are listed.
func (m *model) goLive(n int) {
	var earlier []int
	for _, e := range append([]int{m.Live}, m.Earlier...) {
		if _, exists := m.Deployments[e]; exists && e != n && len(earlier) < 5 {
			earlier = append(earlier, e)
		}
	}
	m.Live, m.Earlier = n, earlier
}

func (m *model) release(n int, token string) {
	if d, ok := m.Deployments[n]; ok && d.Token == token {
		d.Token, d.Held, d.Leased = "", false, false
		m.Deployments[n] = d
	}
}

func (m *model) promote(n int) {
	if m.Deployments[n].Status != deployment.Ready {
		return
	}
	m.Sequence++
	m.LiveSequence = m.Sequence
	if m.Live != n {
		m.goLive(n)
		m.event("project.deployed", n, " ready promote")
	}
}

func (m *model) cancel(n int) {
	if d := m.Deployments[n]; d.waits() {
		m.set(n, deployment.Canceled)
	}
}

func (m *model) delete(n int) {
	if n != m.Live {
		m.cancel(n)
		delete(m.Deployments, n)
		m.Earlier = slices.DeleteFunc(m.Earlier, func(e int) bool { return e == n })
	}
}

func (m *model) deleteProject() {
	for n := range m.Deployments {
		m.cancel(n)
	}
	*m = model{Events: m.Events}
}

func (m *model) offline() {
	if m.Label != "" {
		m.Sequence++
		m.LiveSequence = m.Sequence
		if m.Live != 0 {
			m.Live, m.Earlier = 0, nil
		}
	}
}

// expire makes all leases expire.
func (m *model) expire() {
	for n, d := range m.Deployments {
		d.Leased = false
		m.Deployments[n] = d
	}
}
