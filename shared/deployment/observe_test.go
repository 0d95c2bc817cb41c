package deployment_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/event"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/site"
)

// ids returns the IDs of all deployments by number.
func (w *world) ids() map[int]string {
	ids := map[int]string{}
	for _, d := range w.records() {
		ids[d.Number] = d.ID
	}
	return ids
}

func (w *world) records() []deployment.Deployment {
	items, err := w.Projects.QueryAll(context.Background(), db.DeploymentsOf(w.project))
	if err != nil {
		w.t.Fatal(err)
	}
	return db.DecodeAll(context.Background(), items, db.Decode[deployment.Deployment])
}

// observe returns what is stored as a model, and checks the addresses.
func (w *world) observe() model {
	m := w.model.clone()
	ctx, jobs := context.Background(), w.observeJobs()
	if _, err := w.Projects.Get(ctx, db.TreeKey(w.project)); err != nil {
		m = model{}
	}
	item, _ := w.Projects.Get(ctx, db.SiteKey(w.project))
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
		j := jobs[d.ID]
		w.checkJob(d, j.Kind, m.Exists)
		if d.Status == deployment.Removing || !m.Exists {
			continue
		}
		m.Deployments[d.Number] = modelDeployment{
			Status: d.Status, Target: d.Target, Sequence: d.Sequence,
		}
		if j.Kind == deployment.BuildJob {
			observed := m.Deployments[d.Number]
			observed.Token, observed.Held = j.Lease, j.Lease != ""
			observed.Leased = j.LeaseEnds != nil && w.Clock.Now().Before(j.LeaseEnds.Time())
			m.Deployments[d.Number] = observed
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
	m.Earlier = nil
	for _, e := range s.Earlier {
		if n := numberOf[e.DeploymentID]; m.Deployments[n].Status != "" {
			m.Earlier = append(m.Earlier, n)
		}
	}
	if m.Exists {
		w.checkSummary(s)
	}
	m.Events = w.observeEvents()
	w.checkAddresses(m.Exists, s, own)
	return m
}

// checkSummary checks the site in the record of the project.
func (w *world) checkSummary(s deployment.Site) {
	item, err := w.Projects.Get(context.Background(), db.ProjectKey(w.user.Personal, w.project))
	if err != nil {
		w.t.Fatal(err)
	}
	record, err := db.Decode[struct {
		Site site.Summary `dynamodbav:"site"`
	}](item)
	want := site.Summary{Label: s.Label, DeploymentID: s.DeploymentID}
	if err != nil || record.Site != want {
		w.t.Fatalf("the record of the project has the site %+v, %v, want %+v", record.Site, err, want)
	}
}

// observeJobs returns the jobs of the project by ID.
func (w *world) observeJobs() map[string]job.Job {
	prefix := db.Prefix{PK: db.TreeKey(w.project).PK, SK: "JOB#"}
	items, err := w.Projects.QueryAll(context.Background(), prefix)
	if err != nil {
		w.t.Fatal(err)
	}
	jobs := map[string]job.Job{}
	for _, item := range items {
		j, err := db.Decode[job.Job](item)
		if err != nil {
			w.t.Fatal(err)
		}
		jobs[j.ID] = j
	}
	return jobs
}

// checkJob checks that a deployment has the job that its status requires: no build and no removal is forgotten.
func (w *world) checkJob(d deployment.Deployment, kind string, projectExists bool) {
	want := map[deployment.Status]string{
		deployment.Queued: deployment.BuildJob, deployment.Building: deployment.BuildJob, deployment.Ready: "",
		deployment.Removing: deployment.RemovalJob,
	}
	expected, isKnown := want[d.Status]
	if expected == deployment.BuildJob && !projectExists {
		expected = deployment.RemovalJob
	}
	if isKnown && kind != expected || !isKnown && kind == deployment.BuildJob {
		w.t.Fatalf("deployment %d is %s and has a job of the kind %q, want %q", d.Number, d.Status, kind, expected)
	}
}

// observeEvents returns the number of each event of a deployment.
func (w *world) observeEvents() map[string]int {
	items, err := w.Client.Table(w.Tables.Events).QueryAll(context.Background(), db.EventsOf(w.project))
	if err != nil {
		w.t.Fatal(err)
	}
	counts := map[string]int{}
	for _, item := range items {
		r, err := event.FromItem(item)
		var p event.Payload
		if err != nil || json.Unmarshal([]byte(r.Payload), &p) != nil {
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
	for _, item := range dynamotest.Dump(w.T, w.SDK, w.sites) {
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
		isLive := exists && label == s.Label && a.DeploymentID != ""
		if isLive && !slices.Equal(a.Earlier, s.Earlier) || !isLive && a.ReservedFor == "" && len(a.Earlier) > 0 {
			w.t.Fatalf("got the address %s: %+v, want the earlier deployments %v", label, a, s.Earlier)
		}
		if isSite := exists && label == s.Label; !strings.Contains(label, "--") && isSite != (a.ReservedFor == "") {
			w.t.Fatalf("got the address %s: %+v of a site with label %s", label, a, s.Label)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Fatalf("wrong addresses (-want +got):\n%s", diff)
	}
}
