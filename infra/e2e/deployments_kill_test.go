package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/hooktest"
	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
	"devplatform/shared/clock"
)

// request is a request of a publisher that may change the live deployment.
type request struct {
	deployment string // its ID. "" if the response of a request to deploy was lost
	done       bool   // whether the response arrived
}

// publisher changes, deploys and promotes its project, one request after another, until the platform is killed.
type publisher struct {
	*deployer

	hooks    *hooktest.Receiver
	requests []request
	number   int // of the last text
}

func newPublisher(t *testing.T, p *platformtest.Platform, name string) *publisher {
	t.Helper()
	c := platformtest.NewClient(t, p.URL)
	c.SignUp(name)
	hooks := hooktest.New(t)
	c.Subscribe(hooks.URL("/ok"), platformtest.Object{"events": []string{"deployment.completed", "project.deployed"}})
	return &publisher{deployer: newDeployer(c, c.NewProject(name, nil)), hooks: hooks}
}

// try sends a request, and returns the body of a successful response. alive reports whether there was a response of the
// service.
func (p *publisher) try(method, path string, body platformtest.Object) (response map[string]any, alive bool) {
	text := ""
	if body != nil {
		text = body.String()
	}
	r, err := p.Try(method, path, text)
	if err != nil || r.Status >= http.StatusInternalServerError {
		return nil, false
	}
	if r.Status < http.StatusBadRequest {
		_ = json.Unmarshal(r.Body, &response)
	}
	return response, true
}

// run sends requests until one has no response.
func (p *publisher) run() {
	for {
		p.number++
		text := fmt.Sprintf("<!doctype html><h1>text %d of %s</h1>", p.number, p.project)
		if _, alive := p.try("POST", "/api/projects/"+p.project+"/files", platformtest.Object{
			"path": "/index.html", "content": text,
		}); !alive {
			return
		}
		accepted, alive := p.try("POST", p.at(), platformtest.Object{})
		id, _ := accepted["id"].(string)
		p.requests = append(p.requests, request{id, alive})
		if !alive {
			return
		}
		time.Sleep(rand.N(150 * time.Millisecond))
		if rand.IntN(3) > 0 {
			continue
		}
		list, alive := p.try("GET", p.at("?status=ready"), nil)
		ready, _ := list["deployments"].([]any)
		if !alive {
			return
		}
		if len(ready) > 0 {
			chosen, _ := ready[rand.IntN(len(ready))].(map[string]any)
			id := fmt.Sprint(chosen["id"])
			promoted, alive := p.try("POST", p.at("/", id, "/promote"), nil)
			if promoted != nil || !alive {
				p.requests = append(p.requests, request{id, alive})
			}
			if !alive {
				return
			}
		}
	}
}

// deployments returns all deployments of the project, the newest first.
func (p *publisher) deployments() []map[string]any {
	p.T.Helper()
	return p.Do("GET", p.at("?limit=100"), "").List(p.T, "deployments")
}

// mayBeLive returns the deployments that can be live: the deployment of the last request that had an effect, and the
// deployments of later requests whose response was lost.
func (p *publisher) mayBeLive() map[string]bool {
	p.T.Helper()
	known, status := map[string]bool{}, map[string]any{}
	for _, r := range p.requests {
		known[r.deployment] = true
	}
	for _, d := range p.deployments() {
		status[fmt.Sprint(d["id"])] = d["status"]
	}
	may := map[string]bool{}
	for _, r := range slices.Backward(p.requests) {
		switch {
		case r.deployment == "": // any that is in no response
			for id := range status {
				if !known[id] && status[id] == "ready" {
					may[id] = true
				}
			}
		case status[r.deployment] == "ready":
			may[r.deployment] = true
			if r.done {
				return may
			}
		}
	}
	return may
}

// expire sets the leases and the due times of all builds and deliveries to the past, as if the test had waited for
// them.
func expire(t *testing.T, p *platformtest.Platform) {
	t.Helper()
	sdk := p.DynamoDB()
	tables, err := sdk.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	must(t, err)
	past := &types.AttributeValueMemberS{Value: clock.Stamp(clock.System().Add(-time.Second)).String()}
	for _, table := range tables.TableNames {
		if !strings.HasSuffix(table, "ProjectsTable") && !strings.HasSuffix(table, "WebhooksTable") {
			continue
		}
		items, err := sdk.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
		must(t, err)
		for _, item := range items.Items {
			key := map[string]types.AttributeValue{"pk": item["pk"], "sk": item["sk"]}
			if sk, _ := item["sk"].(*types.AttributeValueMemberS); sk.Value == "BUILDS" { // the builds in progress of an account
				_, err := sdk.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: key})
				must(t, err)
			}
			var sets, exist []string
			for _, name := range []string{"dueAt", "leaseEnds", "leaseUntil", "nextAttemptAt"} {
				if item[name] != nil {
					sets, exist = append(sets, name+" = :past"), append(exist, "attribute_exists("+name+")")
				}
			}
			if sets == nil {
				continue
			}
			update, condition := "SET "+strings.Join(sets, ", "), strings.Join(exist, " AND ")
			_, err := sdk.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: &table, Key: key, UpdateExpression: &update, ConditionExpression: &condition,
				ExpressionAttributeValues: map[string]types.AttributeValue{":past": past},
			})
			var changed *types.ConditionalCheckFailedException
			if !errors.As(err, &changed) { // a build or a delivery that has ended in the meantime
				must(t, err)
			}
		}
	}
}

// check checks that all deployments have ended, that the right one is live, and that both events arrived once.
func (p *publisher) check() {
	p.T.Helper()
	for _, d := range p.deployments() {
		if ended := p.awaitEnd(fmt.Sprint(d["id"])); ended["status"] == "failed" {
			p.T.Errorf("got deployment %v, want it not to fail", ended)
		}
	}
	site := p.Do("GET", "/api/projects/"+p.project+"/site", "").Want(p.T, http.StatusOK)
	live, may := fmt.Sprint(site["deploymentId"]), p.mayBeLive()
	if !may[live] {
		p.T.Errorf("%s is live, want one of %v", live, slices.Collect(maps.Keys(may)))
	}
	d := p.Do("GET", p.at("/", live), "").Want(p.T, http.StatusOK)
	status, page := p.visit(fmt.Sprint(site["url"]))
	if _, own := p.visit(fmt.Sprint(d["url"])); status != http.StatusOK || page != own || !strings.Contains(page, p.project) {
		p.T.Errorf("the site shows %d %q, and the live deployment %q", status, page, own)
	}
	completed, deployed, want := map[string]int{}, map[string]string{}, []string{} // by deployment ID, by event ID
	for id, raw := range p.Feed(p.project) {
		var e struct {
			Type string
			Data struct{ Deployment struct{ ID string } }
		}
		must(p.T, json.Unmarshal(raw, &e))
		switch e.Type {
		case "deployment.completed":
			completed[e.Data.Deployment.ID]++
			want = append(want, id)
		case "project.deployed":
			deployed[id] = e.Data.Deployment.ID
			want = append(want, id)
		}
	}
	for _, d := range p.deployments() {
		if n := completed[fmt.Sprint(d["id"])]; n != 1 {
			p.T.Errorf("got %d events deployment.completed of %v, want 1", n, d["id"])
		}
	}
	if last := slices.Max(slices.Collect(maps.Keys(deployed))); deployed[last] != live {
		p.T.Errorf("the last event project.deployed is about %s, want an event about the live %s", deployed[last], live)
	}
	p.wantEvents(want)
}

// wantEvents checks that the webhook received the events with these IDs, and no others.
func (p *publisher) wantEvents(want []string) {
	p.T.Helper()
	slices.Sort(want)
	var got []string
	for range 300 { // five minutes
		if got = slices.Sorted(maps.Keys(p.hooks.IDs("/ok"))); slices.Equal(got, want) {
			return
		}
		time.Sleep(time.Second)
	}
	p.T.Errorf("the webhook received other events (-want +got):\n%s", cmp.Diff(want, got))
}

// TestKillDuringDeployments kills the platform at random moments while two users deploy and promote, and restarts it
// with the same data. In the end, every deployment has ended, the last request decided which one is live, and all
// events arrived. Leases of interrupted builds must expire first, which takes minutes, so it runs only in the full
// form.
func TestKillDuringDeployments(t *testing.T) {
	if !testmode.IsNightly() {
		t.Skip("waits for minutes: it runs with make faults")
	}
	t.Parallel()
	settings := []string{"LIMIT_DEPLOYMENTS_MINUTE=1000"}
	p := platformtest.Start(t, settings...)
	publishers := []*publisher{newPublisher(t, p, "ada"), newPublisher(t, p, "bob")}
	restart := func() {
		p = platformtest.StartIn(t, p.Dir, settings...)
		for _, publisher := range publishers {
			publisher.Base = p.URL
		}
	}
	for range 5 {
		var group sync.WaitGroup
		for _, publisher := range publishers {
			group.Go(publisher.run)
		}
		time.Sleep(300*time.Millisecond + rand.N(1200*time.Millisecond))
		p.Kill()
		group.Wait()
		restart()
	}
	time.Sleep(2 * time.Second) // until the work that nothing has interrupted is done
	expire(t, p)
	p.Interrupt(10 * time.Second) // a start triggers the schedules
	restart()
	for _, publisher := range publishers {
		publisher.check()
		t.Logf("%d requests, %d deployments", len(publisher.requests), len(publisher.deployments()))
	}
}
