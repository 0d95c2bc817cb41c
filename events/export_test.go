package events_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"devplatform/infra/local/sqs/sqstest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/project/export"
	"devplatform/shared/project/file"
	"devplatform/shared/queue"
	"devplatform/shared/workspace"
)

// TestExportSample checks that the start of an export sends the message of the sample, and that the worker makes the
// export of the sample of a request ready.
func TestExportSample(t *testing.T) {
	t.Parallel()
	const userID, workspaceID = "usr_01KGA4V5N0ABCDEFGHJKMNPQRS", "ws_01KGA4V5N2ABCDEFGHJKMNPQRS"
	const projectID = "prj_01KGA4ZK70ABCDEFGHJKMNPQRS"
	f := newFixture(t)
	table := f.tables["projects"]
	writes, err := workspace.Personal(table, workspaceID, userID, "ada", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for key, record := range map[db.Key]any{
		db.TreeKey(projectID): file.Tree{WorkspaceID: workspaceID, Changes: 3},
		db.ProjectKey(workspaceID, projectID): workspace.ProjectAccess{
			WorkspaceID: workspaceID, Name: "Todo", Visibility: workspace.Private, CreatedBy: userID,
		},
	} {
		item, err := db.Encode(record)
		if err != nil {
			t.Fatal(err)
		}
		writes = append(writes, table.Put(key, item))
	}
	if err := f.client.Transact(t.Context(), writes...); err != nil {
		t.Fatal(err)
	}
	sqs := sqstest.Start(t)
	url := sqstest.CreateQueue(t, sqs, "exports", nil)
	q := queue.Wrap(sqs).Queue(url)
	send := func(ctx context.Context, body, group string) error {
		return q.Send(ctx, queue.Message{Body: body, Group: group})
	}
	exports := export.New(export.Deps{
		DB: f.client, Projects: table, Bucket: f.bucket, Send: send, Clock: time.Now,
		HourlyLimit: export.DefaultHourlyLimit,
	})
	caller := slicetest.NewCaller(userID, "ada")
	started, err := exports.Start(t.Context(), caller, projectID)
	if err != nil {
		t.Fatal(err)
	}
	checkMessage(t, sqs, url, "project-export")
	logger := slog.New(slog.DiscardHandler)
	worker := export.NewWorker(export.WorkerDeps{
		DB: f.client, Projects: table, Bucket: f.bucket, Hide: q.Hide, Clock: time.Now, Logger: logger,
		Files: file.New(file.Deps{
			DB: f.client, Projects: table, Contents: f.tables["contents"], Bucket: f.bucket, Clock: time.Now,
		}),
	})
	response, err := lambdafn.Queue(logger, worker.Handle).Invoke(t.Context(), read(t, "project-export.json"))
	if err != nil || string(response) != `{"batchItemFailures":[]}` {
		t.Errorf("got %s, error %v, want no failures", response, err)
	}
	var request events.APIGatewayProxyRequest
	if err := json.Unmarshal(read(t, "projects-export-read.json"), &request); err != nil {
		t.Fatal(err)
	}
	if want := "/api/projects/" + projectID + "/exports/" + started.ID; request.Path != want {
		t.Errorf("got the path %s in the sample of a request, want %s", request.Path, want)
	}
	if r, err := exports.Get(t.Context(), caller, projectID, started.ID); err != nil || r.Status != export.Ready {
		t.Errorf("got the status %s, error %v, want ready", r.Status, err)
	}
}
