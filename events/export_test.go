package events_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/project/export"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// TestExportSample checks that the start of an export starts the export of the sample of a request.
func TestExportSample(t *testing.T) {
	t.Parallel()
	const userID, workspaceID = "usr_01KGA4V5N0ABCDEFGHJKMNPQRS", "ws_01KGA4V5N2ABCDEFGHJKMNPQRS"
	const projectID = "prj_01KGA4ZK70ABCDEFGHJKMNPQRS"
	f := newFixture(t)
	table := f.tables["projects"]
	writes := workspace.Personal(table, workspaceID, userID, "ada", time.Now())
	for key, record := range map[db.Key]any{
		db.TreeKey(projectID): file.Tree{WorkspaceID: workspaceID, Revision: 3},
		db.ProjectKey(workspaceID, projectID): workspace.ProjectAccess{
			WorkspaceID: workspaceID, Name: "Todo", Visibility: workspace.Private, CreatedBy: userID,
		},
	} {
		writes = append(writes, table.Put(key, record))
	}
	if err := f.client.Tx(writes...).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	exports := export.New(export.Deps{
		DB: f.client, Projects: table, Bucket: f.bucket, Clock: time.Now, Logger: slog.New(slog.DiscardHandler),
		Send:        func(context.Context, string, string) error { return nil },
		HourlyLimit: export.DefaultHourlyLimit,
	})
	caller := slicetest.NewCaller(userID, "ada")
	started, err := exports.StartExport(t.Context(), caller, &file.InProject{ProjectID: projectID})
	if err != nil {
		t.Fatal(err)
	}
	var request events.APIGatewayProxyRequest
	if err := json.Unmarshal(read(t, "projects-export-read.json"), &request); err != nil {
		t.Fatal(err)
	}
	if want := "/api/projects/" + projectID + "/exports/" + started.Body.ID; request.Path != want {
		t.Errorf("got the path %s in the sample of a request, want %s", request.Path, want)
	}
}
