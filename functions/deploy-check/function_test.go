package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/functiontest"
	"devplatform/infra/templatetest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
)

// fakeAWS is Lambda and CodeDeploy.
type fakeAWS struct {
	t *testing.T
	// group is the deployment group that CodeDeploy returns, "" for an error.
	group string
	// responses are the responses of the functions, by ARN. A function whose ARN has the response "crash" fails.
	responses map[string]string
	// throttled is the number of invocations that Lambda throttles.
	throttled int

	mu       sync.Mutex
	invoked  []string
	reported []map[string]string
}

func (f *fakeAWS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch target := r.Header.Get("X-Amz-Target"); {
	case strings.HasSuffix(target, ".GetDeployment") && f.group == "":
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"DeploymentDoesNotExistException"}`)
	case strings.HasSuffix(target, ".GetDeployment"):
		_, _ = io.WriteString(w, `{"deploymentInfo":{"deploymentGroupName":"`+f.group+`"}}`)
	case strings.HasSuffix(target, ".PutLifecycleEventHookExecutionStatus"):
		var report map[string]string
		if err := json.Unmarshal(body, &report); err != nil {
			f.t.Errorf("the report %s is not valid JSON: %v", body, err)
		}
		f.reported = append(f.reported, report)
		_, _ = io.WriteString(w, `{}`)
	case f.throttled > 0:
		f.throttled--
		w.Header().Set("X-Amzn-Errortype", "TooManyRequestsException")
		w.WriteHeader(http.StatusTooManyRequests)
	default:
		version := path.Base(path.Dir(r.URL.Path)) // /2015-03-31/functions/ARN/invocations
		f.invoked = append(f.invoked, version)
		if f.responses[version] == "crash" {
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
		}
		_, _ = io.WriteString(w, f.responses[version])
	}
}

const (
	docsVersion   = "arn:aws:lambda:us-east-1:000000000000:function:docs:7"
	fanoutVersion = "arn:aws:lambda:us-east-1:000000000000:function:fanout:9"
	healthyDocs   = `{"statusCode":200,"headers":{}}` + "\x00\x00\x00\x00\x00\x00\x00\x00" + `{"openapi":"3.1.0"}`
	healthyFanout = `{"batchItemFailures":[]}`
)

// start returns the function with fake services.
func start(t *testing.T, services *fakeAWS) run {
	t.Helper()
	services.t = t
	server := httptest.NewServer(services)
	t.Cleanup(server.Close)
	functiontest.SetEnv(t, server.URL, map[string]string{
		"VERSIONS":     "DocsFunction=" + docsVersion + ",WebhookFanoutFunction=" + fanoutVersion + ",SitesFunction=",
		"SITES_ORIGIN": "",
	})
	cfg, err := config.Load[settings]()
	if err != nil {
		t.Fatal(err)
	}
	return functiontest.Must(newHandler(cfg, clock.System, slog.New(slog.DiscardHandler)))
}

func TestNewVersions(t *testing.T) {
	const docsGroup = "stack-DocsFunctionDeploymentGroup-1ABC"
	for name, tc := range map[string]struct {
		group      string
		responses  map[string]string
		throttled  int
		noID       bool
		wantStatus string
		invoked    []string
		failures   []string
	}{
		"healthy": {
			group: docsGroup, responses: map[string]string{docsVersion: healthyDocs},
			wantStatus: "Succeeded", invoked: []string{docsVersion},
		},
		"throttled by Lambda": {
			group: docsGroup, responses: map[string]string{docsVersion: healthyDocs}, throttled: 2,
			wantStatus: "Succeeded", invoked: []string{docsVersion},
		},
		"crash": {
			group: docsGroup, responses: map[string]string{docsVersion: "crash"},
			wantStatus: "Failed", invoked: []string{docsVersion}, failures: []string{"DocsFunction"},
		},
		"wrong status": {
			group: docsGroup, responses: map[string]string{docsVersion: `{"statusCode":503,"body":"openapi"}`},
			wantStatus: "Failed", invoked: []string{docsVersion}, failures: []string{"DocsFunction"},
		},
		"unknown group": {
			group: "stack-shortened-1ABC", responses: map[string]string{docsVersion: healthyDocs, fanoutVersion: healthyFanout},
			wantStatus: "Succeeded", invoked: []string{docsVersion, fanoutVersion},
		},
		"CodeDeploy does not return the group": {
			responses:  map[string]string{docsVersion: healthyDocs, fanoutVersion: `{"batchItemFailures":[{}]}`},
			wantStatus: "Failed", invoked: []string{docsVersion, fanoutVersion}, failures: []string{"WebhookFanoutFunction"},
		},
		"invoked by an operator": {
			responses: map[string]string{docsVersion: "crash", fanoutVersion: "crash"}, noID: true,
			wantStatus: "Failed", invoked: []string{docsVersion, fanoutVersion},
			failures: []string{"DocsFunction", "WebhookFanoutFunction"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			services := &fakeAWS{group: tc.group, responses: tc.responses, throttled: tc.throttled}
			run, e := start(t, services), event{DeploymentID: "d-1", ExecutionID: "e-1"}
			want := []map[string]string{{
				"deploymentId": "d-1", "lifecycleEventHookExecutionId": "e-1", "status": tc.wantStatus,
			}}
			if tc.noID {
				e, want = event{}, nil
			}
			got, err := run(t.Context(), e)
			if err != nil || string(got.Status) != tc.wantStatus {
				t.Errorf("got %+v, error %v, want the status %s", got, err, tc.wantStatus)
			}
			if failures := slices.Sorted(maps.Keys(got.Failures)); !slices.Equal(failures, tc.failures) {
				t.Errorf("got the failures %v, want failures of %v", got.Failures, tc.failures)
			}
			if slices.Sort(services.invoked); !slices.Equal(services.invoked, tc.invoked) {
				t.Errorf("the function invoked %v, want %v", services.invoked, tc.invoked)
			}
			if diff := cmp.Diff(want, services.reported); diff != "" {
				t.Errorf("wrong report (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryFunctionHasACheck checks that there is a check for each function in template.yaml, and no other.
func TestEveryFunctionHasACheck(t *testing.T) {
	var want []string
	for id, r := range templatetest.Source(t).Resources {
		if r.Type == "AWS::Serverless::Function" && id != "DeployCheckFunction" {
			want = append(want, id)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(checks("https://example.app")))); diff != "" {
		t.Errorf("wrong checks (-want +got):\n%s", diff)
	}
	cfg := settings{Versions: map[string]string{"NewFunction": docsVersion}}
	if _, err := newHandler(cfg, clock.System, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("newHandler accepts a function without a check")
	}
}
