package main

import (
	"crypto/sha256"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/project/content"
)

const (
	projectID = "prj_01KGA4ZK70ABCDEFGHJKMNPQRS"
	exportID  = "exp_01KGA4ZK70CXAR7FR50G4M0SXT"
)

// setEnv sets the environment variables that template.yaml defines for the function, with new services.
func setEnv(t *testing.T) (client *db.Client, objects *s3.Client) {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	sdk, queues := dynamotest.Start(t), sqstest.StartServer(t)
	for _, table := range []string{"projects", "contents"} {
		dynamotest.CreateTable(t, sdk, table, "pk", "sk")
	}
	objects = s3test.Client(s3test.StartServer(t))
	functiontest.SetEnv(t, functiontest.Endpoint(t, aws.ToString(sdk.Options().BaseEndpoint), queues), map[string]string{
		"AWS_ENDPOINT_URL_S3": *objects.Options().BaseEndpoint, "AWS_ACCESS_KEY_ID": "local",
		"AWS_SECRET_ACCESS_KEY": "local", "FILES_BUCKET": s3test.CreateBucket(t, objects, "files"),
		"PROJECTS_TABLE": "projects", "CONTENTS_TABLE": "contents",
		"EXPORTS_QUEUE": sqstest.CreateQueue(t, sqstest.Client(queues), "exports", nil),
	})
	return db.Wrap(sdk, time.Now), objects
}

// put stores an item. It creates the items without the service's code, so that the test fails if the stored format
// changes.
func put(t *testing.T, client *db.Client, table string, key db.Key, record map[string]any) {
	t.Helper()
	item, err := db.Encode(record)
	if err == nil {
		_, err = client.Do(t.Context(), client.Table(table).Put(key, item))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The function writes the archive that a message asks for. A message that is not valid is removed.
func TestMessages(t *testing.T) {
	client, objects := setEnv(t)
	stamp := func(after time.Duration) string { return clock.Stamp(time.Now().Add(after)).String() }
	sum := sha256.Sum256([]byte("hello"))
	chunks, err := content.Pack([]byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, client, "projects", db.TreeKey(projectID), map[string]any{"workspaceId": "ws_01KGA4V5N2ABCDEFGHJKMNPQRS"})
	put(t, client, "projects", db.FileKey(projectID, "/a.txt"), map[string]any{
		"content": "C", "chunks": 1, "size": 5, "updatedAt": stamp(0), "createdAt": stamp(0), "encoding": "utf-8",
		"sha256": sum[:],
	})
	put(t, client, "contents", db.ChunkKey(projectID, "C", 0), map[string]any{"data": chunks[0]})
	put(t, client, "projects", db.ExportKey(projectID, exportID), map[string]any{
		"id": exportID, "status": "running", "startedAt": stamp(0), "sentAt": stamp(0), "dueAt": stamp(time.Minute),
		"lease": "", "leaseEnds": "0001-01-01T00:00:00.000Z", "expiresAt": time.Now().Add(time.Hour).Unix(),
	})
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	handler := functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.NewJSONHandler(&lines, nil))))
	valid := `{"projectId":"` + projectID + `","exportId":"` + exportID + `"}`
	if failed := functiontest.InvokeQueue(t, handler, "not JSON", valid); len(failed) != 0 {
		t.Fatalf("got failed messages %v, want none: %s", failed, &lines)
	}
	for _, want := range []string{`"msg":"message cannot be handled"`, `"msg":"an export is ready"`} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("the log does not contain %s: %s", want, &lines)
		}
	}
	out, err := objects.HeadObject(t.Context(), &s3.HeadObjectInput{
		Bucket: &cfg.Bucket.Files, Key: aws.String("exports/" + projectID + "/" + exportID),
	})
	if err != nil || aws.ToString(out.ContentType) != "application/zip" {
		t.Errorf("got %+v, error %v, want a zip archive", out, err)
	}
}

func TestRequiredVariables(t *testing.T) {
	setEnv(t)
	functiontest.CheckRequiredVariables[settings](t, "PROJECTS_TABLE", "CONTENTS_TABLE", "FILES_BUCKET", "EXPORTS_QUEUE")
}
