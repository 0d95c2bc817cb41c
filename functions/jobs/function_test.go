package main

import (
	"crypto/sha256"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/local/sqs/sqstest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/project/content"
)

const (
	projectID    = "prj_01KGA4ZK70ABCDEFGHJKMNPQRS"
	workspaceID  = "ws_01KGA4V5N2ABCDEFGHJKMNPQRS"
	accountID    = "usr_01KGA4V5N0ABCDEFGHJKMNPQRS"
	deploymentID = "dpl_01KGA4ZK70CXAR7FR50G4M0SXT"
	deletedID    = "dpl_01KGA4ZK70CXAR7FR50G4M0SXV"
	label        = "todo"
	ownLabel     = "todo--abcdefghijklmnop" // of the deployment's own address
	page         = "<!doctype html><h1>Todo</h1>"
	exportID     = "exp_01KGA4ZK70CXAR7FR50G4M0SXT"
	messageBody  = `{"projectId":"` + projectID + `","id":"` + deploymentID + `"}`
)

// fixture is the environment of the function, with new services.
type fixture struct {
	*testing.T

	client  *db.Client
	objects *s3.Client
	queues  *sqs.Client
	log     strings.Builder
}

// setEnv sets the environment variables that template.yaml defines for the function.
func setEnv(t *testing.T) *fixture {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	sdk, queues := dynamotest.Start(t), sqstest.StartServer(t)
	functiontest.CreateProjectsTable(t, sdk, "projects")
	for _, table := range []string{"contents", "events", "sites"} {
		dynamotest.CreateTable(t, sdk, table, "pk", "sk")
	}
	f := &fixture{
		T: t, client: db.Wrap(sdk, time.Now), objects: s3test.Client(s3test.StartServer(t)), queues: sqstest.Client(queues),
	}
	functiontest.SetEnv(t, functiontest.Endpoint(t, aws.ToString(sdk.Options().BaseEndpoint), queues), map[string]string{
		"AWS_ENDPOINT_URL_S3": *f.objects.Options().BaseEndpoint, "AWS_ACCESS_KEY_ID": "local",
		"AWS_SECRET_ACCESS_KEY": "local", "FILES_BUCKET": s3test.CreateBucket(t, f.objects, "files"),
		"PROJECTS_TABLE": "projects", "CONTENTS_TABLE": "contents", "EVENTS_TABLE": "events", "SITES_TABLE": "sites",
		"JOBS_QUEUE": sqstest.CreateQueue(t, f.queues, "jobs", nil), "SITES_ORIGIN": "https://example.app",
		"NPM_REGISTRY": "", "NPM_ALLOW_PRIVATE": "", "LIMIT_BUILDS_ACCOUNT": "3", "LIMIT_SITE_STORAGE_GIB": "10",
		"METRICS_NAMESPACE": "stack",
	})
	return f
}

// newHandler returns the function as it is built from the environment.
func (f *fixture) newHandler() (*lambdafn.QueueHandler, settings) {
	f.Helper()
	cfg, err := config.Load[settings]()
	if err != nil {
		f.Fatal(err)
	}
	return functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.NewJSONHandler(&f.log, nil)))), cfg
}

// put stores an item. It creates the items without the service's code, so that the test fails if the stored format
// changes.
func (f *fixture) put(table string, key db.Key, record map[string]any) {
	f.Helper()
	item, err := db.Encode(record)
	if err == nil {
		_, err = f.client.Do(f.Context(), f.client.Table(table).Put(key, item))
	}
	if err != nil {
		f.Fatal(err)
	}
}

// check fails the test if an item does not have the attributes.
func (f *fixture) check(table string, key db.Key, want map[string]any) {
	f.Helper()
	item, err := f.client.Table(table).Get(f.Context(), key)
	if err != nil {
		f.Fatalf("%s: %v", key.PK, err)
	}
	stored, err := db.Decode[map[string]any](item)
	if err != nil {
		f.Fatal(err)
	}
	got := map[string]any{}
	for name := range want {
		got[name] = stored[name]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("%s %s differs (-want +got):\n%s", key.PK, key.SK, diff)
	}
}

// store stores a project with a page and a deployment that was requested an hour ago.
func (f *fixture) store() {
	f.Helper()
	now := clock.Stamp(time.Now().Add(-time.Hour)).String()
	chunks, err := content.Pack([]byte(page))
	if err != nil {
		f.Fatal(err)
	}
	sum := sha256.Sum256([]byte(page))
	f.put("projects", db.TreeKey(projectID), map[string]any{"workspaceId": workspaceID})
	f.put("projects", db.ProjectKey(workspaceID, projectID), map[string]any{
		"workspaceId": workspaceID, "name": "Todo", "framework": "static",
		"site": map[string]any{"label": label, "deploymentId": ""},
	})
	f.put("projects", db.FileKey(projectID, "/index.html"), map[string]any{
		"content": "C", "chunks": 1, "size": len(page), "updatedAt": now, "createdAt": now, "encoding": "utf-8",
		"sha256": sum[:],
	})
	f.put("contents", db.ChunkKey(projectID, "C", 0), map[string]any{"data": chunks[0]})
	f.put("sites", db.AddressKey(label), map[string]any{
		"projectId": projectID, "accountId": accountID, "deploymentId": "", "production": true, "spa": false,
	})
	f.put("projects", db.SiteKey(projectID), map[string]any{
		"label": label, "spa": false, "deploymentId": "", "sequence": 1, "liveSequence": 0, "number": 1, "version": 1,
		"updatedAt": now, "deployments": map[string]any{deploymentID: map[string]any{
			"number": 1, "status": "queued", "target": "production", "sequence": 1, "label": ownLabel, "accountId": accountID,
			"bytes": 0,
		}},
	})
	f.put("projects", db.DeploymentKey(projectID, deploymentID), map[string]any{
		"id": deploymentID, "projectId": projectID, "workspaceId": workspaceID, "accountId": accountID, "number": 1,
		"status": "queued", "target": "production", "message": "", "sequence": 1, "label": ownLabel, "files": 0, "bytes": 0,
		"createdBy": map[string]any{"id": accountID, "username": "ada"}, "createdAt": now,
	})
	f.putJob("build", deploymentID)
}

// putJob stores a job that is due since an hour ago.
func (f *fixture) putJob(kind, recordID string) {
	f.Helper()
	f.put("projects", db.JobKey(projectID, recordID), map[string]any{
		"kind": kind, "projectId": projectID, "id": recordID, "group": accountID, "attempts": 0, "due": "JOBS",
		"dueAt": clock.Stamp(time.Now().Add(-time.Hour)).String(),
	})
}

// The function builds the deployment that a message names, and makes it live, writes the archive of an export, and
// removes the output of a deleted deployment. A message that is not valid is removed.
func TestMessages(t *testing.T) {
	f := setEnv(t)
	f.store()
	handler, cfg := f.newHandler()
	f.put("projects", db.DeploymentKey(projectID, deletedID), map[string]any{
		"id": deletedID, "projectId": projectID, "workspaceId": workspaceID, "accountId": accountID, "status": "removing",
		"createdAt": clock.Stamp(time.Now()).String(), "createdBy": map[string]any{"id": accountID, "username": "ada"},
	})
	f.putJob("removal", deletedID)
	deleted := "sites/" + deletedID + "/hash"
	if _, err := f.objects.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: &cfg.Bucket.Files, Key: &deleted, Body: strings.NewReader(page),
	}); err != nil {
		t.Fatal(err)
	}
	f.put("projects", db.ExportKey(projectID, exportID), map[string]any{
		"id": exportID, "status": "running", "startedAt": clock.Stamp(time.Now()).String(),
		"expiresAt": time.Now().Add(time.Hour).Unix(),
	})
	f.putJob("export", exportID)
	messages := []string{"not JSON"}
	for _, recordID := range []string{deploymentID, exportID, deletedID} {
		messages = append(messages, `{"projectId":"`+projectID+`","id":"`+recordID+`"}`)
	}
	if failed := functiontest.InvokeQueue(t, handler, messages...); len(failed) != 0 {
		t.Fatalf("got failed messages %v, want none: %s", failed, &f.log)
	}
	for _, want := range []string{"message cannot be handled", "a deployment ended", "an export ended"} {
		if !strings.Contains(f.log.String(), `"msg":"`+want+`"`) {
			t.Errorf("the log does not contain %s: %s", want, &f.log)
		}
	}
	f.check("projects", db.DeploymentKey(projectID, deploymentID), map[string]any{
		"status": "ready", "files": 1.0, "bytes": float64(len(page)),
	})
	f.check("projects", db.SiteKey(projectID), map[string]any{"deploymentId": deploymentID})
	f.check("projects", db.ExportKey(projectID, exportID), map[string]any{"status": "ready"})
	for _, l := range []string{label, ownLabel} {
		f.check("sites", db.AddressKey(l), map[string]any{"deploymentId": deploymentID, "production": l == label})
	}
	out, err := f.objects.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &cfg.Bucket.Files})
	archive := "exports/" + projectID + "/" + exportID + "/"
	if err != nil || len(out.Contents) != 3 || !strings.HasPrefix(*out.Contents[0].Key, archive) {
		t.Errorf("got the objects %+v, error %v, want the archive, the page and the manifest", out, err)
	}
	gone := []db.Key{db.DeploymentKey(projectID, deletedID)}
	for _, recordID := range []string{deploymentID, exportID, deletedID} {
		gone = append(gone, db.JobKey(projectID, recordID))
	}
	for _, key := range gone {
		if _, err := f.client.Table("projects").Get(t.Context(), key); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("%s: got error %v, want db.ErrNotFound", key.SK, err)
		}
	}
}

// The schedule sends the message of a job that waits for too long.
func TestSchedule(t *testing.T) {
	f := setEnv(t)
	f.store()
	handler, cfg := f.newHandler()
	for range 2 { // in the second run, nothing is due
		out, err := handler.Invoke(t.Context(), []byte(`{"source":"aws.scheduler"}`))
		if err != nil || string(out) != "null" {
			t.Fatalf("got %s, error %v, want null", out, err)
		}
	}
	if n := strings.Count(f.log.String(), `,3600.`); n != 2 {
		t.Errorf("the log has %d metrics with the age of an hour, want 2: %s", n, &f.log)
	}
	input := &sqs.ReceiveMessageInput{QueueUrl: &cfg.Queue, MaxNumberOfMessages: 10}
	out, err := f.queues.ReceiveMessage(t.Context(), input)
	if err != nil || len(out.Messages) != 1 || *out.Messages[0].Body != messageBody {
		t.Errorf("got %+v, error %v, want one message %s", out, err, messageBody)
	}
}

func TestSettings(t *testing.T) {
	setEnv(t)
	functiontest.CheckRequiredVariables[settings](t, "PROJECTS_TABLE", "CONTENTS_TABLE", "EVENTS_TABLE", "SITES_TABLE",
		"FILES_BUCKET", "JOBS_QUEUE")
	for _, tc := range []struct{ name, value, want string }{
		{"SITES_ORIGIN", "", ""}, // sites are not configured
		{"SITES_ORIGIN", "http://localhost:3001", ""},
		{"SITES_ORIGIN", "example.app", `"example.app" is not an origin`},
		{"SITES_ORIGIN", "https://example.app/", `"https://example.app/" is not an origin`},
		{"LIMIT_BUILDS_ACCOUNT", "0", "LIMIT_BUILDS_ACCOUNT=0"},
		{"LIMIT_SITE_STORAGE_GIB", "0", "LIMIT_SITE_STORAGE_GIB=0"},
	} {
		functiontest.CheckSetting(t, newHandler, tc.name, tc.value, tc.want)
	}
}
