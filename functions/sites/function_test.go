package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn/apigateway"
)

const deploymentID = "dpl_01KGA4ZK70ABCDEFGHJKMNPQRS"

// setEnv sets the environment variables that template.yaml defines for the function, with new services.
func setEnv(t *testing.T) (client *db.Client, objects *s3.Client, bucket string) {
	t.Helper()
	functiontest.SkipIfEndpointIsSet(t)
	sdk := dynamotest.Start(t)
	dynamotest.CreateTable(t, sdk, "sites", "pk", "sk")
	objects = s3test.Client(s3test.StartServer(t))
	bucket = s3test.CreateBucket(t, objects, "files")
	functiontest.SetEnv(t, functiontest.Endpoint(t, aws.ToString(sdk.Options().BaseEndpoint), ""), map[string]string{
		"AWS_ENDPOINT_URL_S3": *objects.Options().BaseEndpoint, "AWS_ACCESS_KEY_ID": "local",
		"AWS_SECRET_ACCESS_KEY": "local", "FILES_BUCKET": bucket,
		"SITES_TABLE": "sites", "SITES_ORIGIN": "https://example.app", "LIMIT_SITE_TRAFFIC_GIB": "100",
	})
	return db.Wrap(sdk, time.Now), objects, bucket
}

// page is a response of the function.
type page struct {
	status int
	header http.Header
	body   string
}

// get calls the function with the event of a request, and reads the stream that it returns.
func get(t *testing.T, handler http.Handler, domain, path string) page {
	t.Helper()
	e := events.APIGatewayProxyRequest{
		HTTPMethod: http.MethodGet, Path: path, Resource: "/{proxy+}",
		MultiValueHeaders: map[string][]string{
			"Host": {"blog.example.app"}, "X-Forwarded-Host": {"blog.example.app"}, "X-Forwarded-Proto": {"https"},
		},
	}
	e.RequestContext.RequestID, e.RequestContext.DomainName = "r-1", domain
	payload, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := apigateway.NewBoundedStream(handler, 1<<20)(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	data, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	// The response has a JSON prelude with the status and headers, eight NUL bytes, and the body.
	head, body, _ := bytes.Cut(data, make([]byte, 8))
	var prelude struct {
		StatusCode        int
		MultiValueHeaders http.Header
	}
	if err := json.Unmarshal(head, &prelude); err != nil {
		t.Fatalf("got %q, error %v, want a JSON prelude", data, err)
	}
	return page{prelude.StatusCode, prelude.MultiValueHeaders, string(body)}
}

// The domain of the gateway selects the site. Headers that the client may choose do not. The test creates the records
// and objects without the service's code, so that it fails if the stored format changes.
func TestSite(t *testing.T) {
	client, objects, bucket := setEnv(t)
	pageHash := sha256.Sum256([]byte("hello"))
	manifest := `{"files":{"/index.html":{"size":5,"sha256":"` + base64.StdEncoding.EncodeToString(pageHash[:]) +
		`","contentType":"text/html"}}}`
	manifestHash := sha256.Sum256([]byte(manifest))
	item, err := db.Encode(map[string]any{
		"projectId": "prj_01KGA4ZK70ABCDEFGHJKMNPQRS", "accountId": "usr_01KGA4ZK70ABCDEFGHJKMNPQRS",
		"deploymentId": deploymentID, "manifest": manifestHash[:], "production": true, "spa": false,
	})
	if err == nil {
		_, err = client.Do(t.Context(), client.Table("sites").Put(db.Key{PK: "ADDRESS#shop", SK: "ADDRESS"}, item))
	}
	if err != nil {
		t.Fatal(err)
	}
	for hash, body := range map[[sha256.Size]byte]string{manifestHash: manifest, pageHash: "hello"} {
		key := fmt.Sprintf("sites/%s/%x", deploymentID, hash)
		in := &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(body)}
		if _, err := objects.PutObject(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	handler := functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.NewJSONHandler(&log, nil))))
	got := get(t, handler, "shop.example.app", "/")
	if got.status != http.StatusOK || got.body != "hello" || got.header.Get("X-Deployment-Id") != deploymentID {
		t.Errorf("got %+v, want the page; log: %s", got, &log)
	}
	if !strings.Contains(log.String(), `"requestId":"r-1"`) {
		t.Errorf("logged %s, want the request ID", &log)
	}
	for _, address := range []string{
		"blog.example.app/", "example.app/", "/", "d-1.execute-api.us-east-1.amazonaws.com/", "shop.example.app/missing",
		"shop.example.app/%zz", "shop.example.app/a\x00",
	} {
		domain, path, _ := strings.Cut(address, "/")
		if got := get(t, handler, domain, "/"+path); got.status != http.StatusNotFound {
			t.Errorf("%q: got %+v, want 404", address, got)
		}
	}
}

func TestSettings(t *testing.T) {
	setEnv(t)
	functiontest.CheckRequiredVariables[settings](t, "SITES_TABLE", "FILES_BUCKET")
	for _, tc := range []struct{ name, value, want string }{
		{"SITES_ORIGIN", "", ""},
		{"SITES_ORIGIN", "http://localhost:3001", ""},
		{"SITES_ORIGIN", "example.app", "SITES_ORIGIN"},
		{"LIMIT_SITE_TRAFFIC_GIB", "", ""}, // the default
		{"LIMIT_SITE_TRAFFIC_GIB", "0", "LIMIT_SITE_TRAFFIC_GIB=0"},
		{"LIMIT_SITE_TRAFFIC_GIB", "9999999", "LIMIT_SITE_TRAFFIC_GIB=9999999"},
		{"LIMIT_SITE_TRAFFIC_GIB", "many", "LIMIT_SITE_TRAFFIC_GIB"},
	} {
		functiontest.CheckSetting(t, newHandler, tc.name, tc.value, tc.want)
	}
}
