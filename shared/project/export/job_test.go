package export_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/job"
	"devplatform/shared/workspace"
)

// An export that is not ready after 15 minutes has failed. It can be started again, under the same ID.
func TestTimeToFinish(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.Project("", "Slow", workspace.Private)
	exportID, _ := ada.start(projectID)
	f.Clock.Advance(15*time.Minute - time.Millisecond)
	if r := ada.read(projectID, exportID); r.Text("status") != "running" {
		t.Errorf("got %s, want a running export", r.Raw)
	}
	f.Clock.Advance(time.Millisecond)
	if r := ada.read(projectID, exportID); r.Text("status") != "failed" {
		t.Errorf("got %s, want a failed export", r.Raw)
	}
	late := &putCounter{}
	if errs := f.work(f.clients(late)); len(errs) != 1 || errs[0] != nil || late.puts != 0 {
		t.Errorf("a late message: got the errors %v and %d archives, want success without an archive", errs, late.puts)
	}
	if r := ada.read(projectID, exportID); r.Text("status") != "failed" {
		t.Errorf("after a late message: got %s, want a failed export", r.Raw)
	}
	if again, status := ada.start(projectID); again != exportID || status != "running" {
		t.Errorf("got the export %s with the status %q, want %s, running", again, status, exportID)
	}
	f.work(f.clients(nil))
	if files := unzip(t, ada.download(ada.read(projectID, exportID))); len(files) != 0 {
		t.Errorf("got the files %v of an empty project, want none", files)
	}

	ada.save(projectID, map[string][]byte{"/a": []byte("a")})
	exportID, _ = ada.start(projectID)
	slow := slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPut { // the archive
			f.Clock.Advance(15 * time.Minute)
		}
		return slicetest.Transfers.Do(r)
	})
	if errs := f.work(f.clients(slow)); len(errs) != 1 || errs[0] != nil {
		t.Errorf("got the errors %v of a slow worker, want success", errs)
	}
	if r := ada.read(projectID, exportID); r.Text("status") != "failed" {
		t.Errorf("after a slow worker: got %s, want a failed export", r.Raw)
	}
}

// The archive of a project is not written after its workspace has ended.
func TestExportOfEndedWorkspace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.Project("", "Ended", workspace.Private)
	ada.start(projectID)
	f.Transact(f.Projects.Delete(db.WorkspaceKey(ada.Personal)))
	puts := &putCounter{}
	if errs := f.work(f.clients(puts)); len(errs) != 1 || errs[0] != nil || puts.puts != 0 {
		t.Errorf("got the errors %v and %d archives, want success without an archive", errs, puts.puts)
	}
}

// If the message was lost, or SQS is unavailable, the sweep sends the message.
func TestLostMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.Project("", "Lost", workspace.Private)
	f.serve(f.clients(slicetest.DoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS") {
			return nil, errors.New("no connection")
		}
		return slicetest.Transfers.Do(r)
	})))
	exportID, _ := ada.start(projectID)
	if n := len(f.messages()); n != 0 || !strings.Contains(f.Log.String(), "the message of a job was not sent") {
		t.Errorf("got %d messages, want none, and a line in the log", n)
	}
	f.serve(f.clients(nil))
	f.Clock.Advance(job.ResendAfter)
	f.sweep()
	ada.download(ada.read(projectID, exportID))
}

// If the project is deleted, the job ends, whether its records were removed or not.
func TestDeletedProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	for _, isRemoved := range []bool{false, true} {
		projectID := ada.Project("", "Gone", workspace.Private)
		exportID, _ := ada.start(projectID)
		ada.Do(http.MethodDelete, "/api/projects/"+projectID, nil).Want(t, http.StatusOK)
		if isRemoved {
			if err := f.Projects.DeleteAll(t.Context(), db.ExportKey(projectID, exportID)); err != nil {
				t.Fatal(err)
			}
		}
		if errs := f.work(f.clients(nil)); len(errs) != 1 || errs[0] != nil {
			t.Errorf("got the errors %v, want a handled message", errs)
		}
		if keys := f.archives(); len(keys) != 0 {
			t.Errorf("got the archives %v, want none", keys)
		}
		if _, err := f.Projects.Get(t.Context(), db.JobKey(projectID, exportID)); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("removed: %v: the job: got error %v, want ErrNotFound", isRemoved, err)
		}
		ada.Get("/api/projects/"+projectID+"/exports/"+exportID).Want(t, http.StatusNotFound, fault.CodeProjectNotFound)
	}
}
