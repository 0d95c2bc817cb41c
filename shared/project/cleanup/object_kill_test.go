package cleanup_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/infra/testmode"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/project"
	"devplatform/shared/project/cleanup"
	"devplatform/shared/project/content"
	"devplatform/shared/project/file"
	"devplatform/shared/retry"
	"devplatform/shared/workspace"
)

// process is a function that is killed at one of its calls to DynamoDB or S3. This call and all later ones get no
// response. It is the HTTP client of the SDK's clients.
type process struct {
	mu       sync.Mutex
	calls    int
	killAt   int  // the number of the call, starting at 1; 0 means never
	executes bool // whether the service still executes that call
}

var errKilled = errors.New("the process was killed")

func (p *process) Do(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.calls++
	isLast, isDead := p.calls == p.killAt, p.killAt > 0 && p.calls > p.killAt
	p.mu.Unlock()
	if isDead || (isLast && !p.executes) {
		return nil, errKilled
	}
	pause := rand.IntN(300) // microseconds, so that processes overlap in many ways
	if rand.IntN(10) == 0 {
		pause *= 30
	}
	retry.Sleep(r.Context(), time.Duration(pause)*time.Microsecond)
	if r.Body != nil { // hides WriteTo, for the reason that package awsclient explains at plainBodies
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	response, err := http.DefaultClient.Do(r)
	if isLast {
		if err == nil {
			_ = response.Body.Close()
		}
		return nil, errKilled
	}
	return response, err
}

// killed reports whether the process was killed, and at which of its calls.
func (p *process) killed() (step int, killed bool) {
	return p.killAt, p.killAt > 0 && p.calls >= p.killAt
}

// killWorld is a fixture whose processes are killed.
type killWorld struct {
	*fixture
	cleaner  *projecttest.Cleaner
	ada      *user
	caller   httpapi.Caller
	rand     *rand.Rand
	projects []string               // the projects that are used
	deleted  []string               // projects whose deletion has not been cleaned up
	steps    map[string]int         // the maximum number of calls of each kind of task
	kills    map[string]map[int]int // the number of kills, by kind of task and by the number of the call
}

// task is the work of a process.
type task struct {
	kind string
	// stores means that the process stores objects. Then no object is old: the test moves the sweep's clock, so a sweep
	// that considers all objects old cannot run at the same time.
	stores bool
	// needsOld means that the process considers all objects as older than a day.
	needsOld bool
	do       func(context.Context, *processClients) error
}

// processClients are the services that run in a process.
type processClients struct {
	files    *file.Service
	projects *project.Service
	cleanup  func(age time.Duration) *cleanup.Cleanup
}

func (w *killWorld) clients(p *process) *processClients {
	sdk := dynamotest.Client(w.Endpoint, func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = p, aws.NopRetryer{} })
	objects := s3test.Client(*w.S3.Options().BaseEndpoint, func(o *s3.Options) {
		o.HTTPClient, o.Retryer = p, aws.NopRetryer{}
	})
	c := &processClients{cleanup: func(age time.Duration) *cleanup.Cleanup {
		return w.cleaner.WithClients(sdk, objects, func() time.Time { return time.Now().Add(age) })
	}}
	c.files, c.projects = w.NewServices(db.Wrap(sdk, w.Clock.Now), objects)
	return c
}

// tasks returns a task of each kind, with random parameters.
func (w *killWorld) tasks() []task {
	projectID := w.projects[w.rand.IntN(len(w.projects))]
	in := project.InProject{ProjectID: projectID}
	path := func() string { return fmt.Sprintf("/%d.bin", w.rand.IntN(5)) }
	save := func(path string, size int) file.Operation {
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(w.rand.Uint32())
		}
		text := projecttest.Base64Of(data)
		return file.Operation{Action: file.Save, Path: path, Content: &text, Encoding: file.Base64}
	}
	large := func() int { return content.MaxInline + w.rand.IntN(10_000) }
	change := func(kind string, ops ...file.Operation) task {
		do := func(ctx context.Context, c *processClients) error {
			return c.files.ApplyBatch(ctx, w.caller, projectID, ops)
		}
		return task{kind: kind, stores: kind != "delete" && kind != "rename", do: do}
	}
	from, to, unique := path(), path(), fmt.Sprintf("/%d/%d.bin", w.rand.IntN(3), w.rand.IntN(3))
	all := []task{
		change("save large", save(from, large())),
		change("save large", save(from, large())),
		change("save small", save(from, 100)),
		change("delete", file.Operation{Action: file.Delete, Path: from}),
		change("rename", file.Operation{Action: file.Rename, Path: from, To: to}),
		change("batch", save(unique, large()), save(unique+"x", 10), save(unique+"y", large()),
			file.Operation{Action: file.Rename, Path: from, To: unique + "z"}),
		{kind: "upload", stores: true, do: func(ctx context.Context, c *processClients) error {
			return w.upload(ctx, c, in, from)
		}},
		{kind: "read", do: func(ctx context.Context, c *processClients) error {
			_, _, err := c.files.List(ctx, w.caller, projectID, file.Listing{WithContent: true})
			return err
		}},
		{kind: "delete a version", do: func(ctx context.Context, c *processClients) error {
			history, err := c.files.FileHistory(ctx, w.caller, &file.FileHistoryInput{InProject: in, Path: from})
			if err != nil {
				return err
			}
			oldest := history.Body.Versions[len(history.Body.Versions)-1].Version
			deletion := file.DeleteVersionInput{InProject: in, Path: from, Version: oldest}
			_, err = c.files.DeleteFileVersion(ctx, w.caller, &deletion)
			return err
		}},
		{kind: "sweep of young objects", do: func(ctx context.Context, c *processClients) error {
			return c.cleanup(0).Sweep(ctx)
		}},
		{kind: "sweep of old objects", needsOld: true, do: func(ctx context.Context, c *processClients) error {
			return c.cleanup(projecttest.Old).Sweep(ctx)
		}},
		{kind: "expire", do: func(ctx context.Context, c *processClients) error { return w.handleLast(ctx, c.cleanup(0)) }},
	}
	if w.rand.IntN(5) == 0 {
		all = append(all, task{kind: "delete a project", do: func(ctx context.Context, c *processClients) error {
			_, err := c.projects.DeleteProject(ctx, w.caller, &in)
			return err
		}})
	}
	if len(w.deleted) > 0 {
		gone := w.deleted[0]
		all = append(all, task{kind: "remove a project", do: func(ctx context.Context, c *processClients) error {
			return c.cleanup(0).Handle(ctx, deletionRecord(w.fixture, gone))
		}})
	}
	return all
}

// upload announces an upload, sends the content as a client does, and completes the upload.
func (w *killWorld) upload(ctx context.Context, c *processClients, in project.InProject, path string) error {
	data := projecttest.RandomBytes(5000)
	sum := sha256.Sum256(data)
	announcement := file.AnnounceUploadInput{InProject: in}
	announcement.Body.Path, announcement.Body.Size, announcement.Body.SHA256 = path, len(data), hex.EncodeToString(sum[:])
	a, err := c.files.AnnounceUpload(ctx, w.caller, &announcement)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, a.Body.URL, bytes.NewReader(data))
	if err != nil {
		return err
	}
	for name, value := range a.Body.Headers {
		r.Header.Set(name, value)
	}
	if response, err := http.DefaultClient.Do(r); err == nil {
		_ = response.Body.Close()
	}
	_, err = c.files.CompleteUpload(ctx, w.caller, &file.CompleteUploadInput{InProject: in, UploadID: a.Body.ID})
	return err
}

// handleLast handles some of the last events, as a late or repeated delivery does.
func (w *killWorld) handleLast(ctx context.Context, c *cleanup.Cleanup) error {
	images := w.cleaner.Events()
	for _, image := range images[max(0, len(images)-5):] {
		if image["type"] == nil {
			continue
		}
		if err := c.Handle(ctx, projecttest.InsertRecord(image)); err != nil {
			return err
		}
	}
	return nil
}

// run runs one to three tasks at the same time. Each of them can be killed at any of its calls. It returns the number
// of kills.
func (w *killWorld) run() (kills int) {
	var chosen []task
	stores, needsOld := false, false
	for range 1 + w.rand.IntN(3) {
		all := w.tasks()
		next := all[w.rand.IntN(len(all))]
		if (next.needsOld && stores) || (next.stores && needsOld) {
			continue
		}
		stores, needsOld = stores || next.stores, needsOld || next.needsOld
		chosen = append(chosen, next)
	}
	processes := make([]*process, len(chosen))
	var wg sync.WaitGroup
	for i, next := range chosen {
		processes[i] = &process{executes: w.rand.IntN(2) == 0}
		processes[i].killAt = w.killAt(next.kind)
		clients := w.clients(processes[i])
		wg.Go(func() { _ = next.do(w.T.Context(), clients) })
	}
	wg.Wait()
	for i, p := range processes {
		kind := chosen[i].kind
		if step, killed := p.killed(); killed {
			kills++
			if w.kills[kind] == nil {
				w.kills[kind] = map[int]int{}
			}
			w.kills[kind][step]++
		} else {
			w.steps[kind] = max(w.steps[kind], p.calls)
		}
	}
	w.replaceDeleted()
	return kills
}

// minCalls is the number of calls that each task of a kind makes, if it has something to do and does not fail.
var minCalls = map[string]int{
	"save large": 5, "save small": 4, "batch": 7, "rename": 4, "delete": 3, "upload": 10, "read": 3, "expire": 3,
	"delete a version": 6, "delete a project": 3, "remove a project": 6, "sweep of old objects": 7,
	"sweep of young objects": 3,
}

// killAt returns the call at which a process of a kind is killed: 0 for some, the first call at which no process of the
// kind was killed yet for others, and otherwise a random one.
func (w *killWorld) killAt(kind string) int {
	choice := w.rand.IntN(10)
	if choice == 0 {
		return 0
	}
	for step := 1; step <= minCalls[kind] && choice < 5; step++ {
		if w.kills[kind][step] == 0 {
			return step
		}
	}
	return 1 + w.rand.IntN(max(minCalls[kind], w.steps[kind]))
}

// notKilled returns a step at which no process was killed yet, or "".
func (w *killWorld) notKilled() string {
	for kind, calls := range minCalls {
		for step := 1; step <= calls; step++ {
			if w.kills[kind][step] == 0 {
				return fmt.Sprintf("step %d of %q", step, kind)
			}
		}
	}
	return ""
}

// replaceDeleted replaces the projects that were deleted with new ones.
func (w *killWorld) replaceDeleted() {
	w.T.Helper()
	for i, projectID := range w.projects {
		if _, err := w.Projects.Get(w.T.Context(), db.TreeKey(projectID)); errors.Is(err, db.ErrNotFound) {
			w.deleted = append(w.deleted, projectID)
			w.projects[i] = w.ada.Project("", "Project", workspace.Private)
		}
	}
}

// No object to which a record refers is ever removed, and every object without a record is removed in the end. Saves,
// renames, deletions, clean-ups and sweeps run at the same time, and are killed 200 times. In the full form without the
// race detector, they are killed 1,000 times, and at every step.
func TestObjectsAndRecordsSurviveKills(t *testing.T) {
	t.Parallel()
	const seed = 17
	kills, everyStep := 1000, testmode.IsNightly() && !testmode.HasRaceDetector
	if !everyStep {
		kills = 200
	}
	f := projecttest.New(t)
	ada := f.NewUser("ada")
	ada.Project("", "First", workspace.Private) // with a workspace
	w := &killWorld{
		fixture: f, cleaner: projecttest.NewCleaner(t, f), ada: ada, caller: slicetest.NewCaller(ada.UserID, ada.Name),
		rand: rand.New(rand.NewPCG(seed, seed)), steps: map[string]int{}, kills: map[string]map[int]int{},
	}
	w.projects = []string{w.ada.Project("", "Project", workspace.Private), w.ada.Project("", "Project", workspace.Private)}
	began, rounds, removed := time.Now(), 0, 0
	for n := 0; n < kills || (everyStep && w.notKilled() != "" && rounds < 5*kills); rounds++ {
		n += w.run()
		w.checkReferenced()
		switch before := len(f.Objects()); {
		case rounds%100 == 99:
			f.Clock.Advance(content.Retention + time.Hour) // every version expires
			fallthrough
		case rounds%25 == 24:
			w.checkRemoved()
			removed += before - len(f.Objects())
		}
	}
	w.checkRemoved()
	if step := w.notKilled(); everyStep && step != "" {
		t.Errorf("no process was killed at %s", step)
	}
	for kind := range minCalls {
		t.Logf("%s: up to %d steps, kills by step: %v", kind, w.steps[kind], w.kills[kind])
	}
	t.Logf("%d rounds in %v, %d objects removed by sweeps without kills", rounds, time.Since(began), removed)
}
