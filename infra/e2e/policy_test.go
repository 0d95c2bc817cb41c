package e2e

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"devplatform/infra/local/codehost"
	"devplatform/infra/local/dynamodb"
	"devplatform/infra/local/gateway"
	"devplatform/infra/local/provision"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/s3"
	"devplatform/infra/local/secrets"
	"devplatform/infra/local/sqs"
	"devplatform/infra/local/stack"
	"devplatform/infra/local/triggers"
	"devplatform/infra/platformtest"
	"devplatform/infra/templatetest"
)

type permission = templatetest.Permission

// noPositions lets every mapping begin at the oldest record.
type noPositions struct{}

func (noPositions) Load(string) ([]byte, error) { return nil, nil }
func (noPositions) Save(string, []byte) error   { return nil }

// watched is a platform in the process of the test, which records the permissions that the functions use. Each function
// has its own credentials, so that a call to a service identifies the function.
type watched struct {
	t        testing.TB
	stack    *resources.Stack
	url      string // of the gateway
	sites    *httptest.Server
	services string // the endpoint of the AWS services
	lambda   map[string]*runtime.Runtime
	codehost *codehost.Server

	meanwhile func() // called while the model writes an answer

	mu   sync.Mutex
	used map[string]map[permission]bool // by function
	// accesses are the accesses to items of DynamoDB, by function.
	accesses map[string]map[string]access
	// calls are the calls of successful requests.
	calls []requestCalls
}

func newWatched(t testing.TB) *watched {
	t.Helper()
	w := &watched{t: t, lambda: map[string]*runtime.Runtime{}, used: map[string]map[permission]bool{}, accesses: map[string]map[string]access{}}
	tables, err := dynamodb.Open(dynamodb.Options{Now: time.Now})
	must(t, err)
	queues, err := sqs.Open(sqs.Options{Now: time.Now})
	must(t, err)
	secretsManager, err := secrets.Open(secrets.Options{Now: time.Now})
	must(t, err)
	objects, err := s3.Open(s3.Options{Now: time.Now})
	must(t, err)
	services := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.record(r)
		if strings.HasPrefix(r.URL.Path, "/model/") {
			w.bedrock(rw, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, mailPath) {
			w.ses(rw)
			return
		}
		if versionOf(r) != "" {
			w.invokeVersion(rw, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, codehost.Path) {
			w.codehost.ServeHTTP(rw, r)
			return
		}
		if s3.SignedFor(r) == "s3" {
			w.signLocally(r)
			objects.ServeHTTP(rw, r)
			return
		}
		switch service, _, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); service {
		case "AmazonSQS":
			queues.ServeHTTP(rw, r)
		case "secretsmanager":
			secretsManager.ServeHTTP(rw, r)
		case "CodeDeploy_20141006":
			w.codeDeploy(rw, r)
		default:
			w.delay(r)
			tables.ServeHTTP(rw, r)
		}
	}))
	w.services = services.URL
	variables := w.openCodehost()
	maps.Copy(variables, w.openSites())
	w.stack, err = stack.Load(filepath.Join(platformtest.Root, "template.yaml"), stack.Options{
		QueueEndpoint: services.URL, Overrides: variables, Parameters: parameters,
	})
	must(t, err)
	_, err = provision.Apply(t.Context(), w.stack, provision.Options{Endpoint: services.URL})
	must(t, err)
	w.giveSecret("CodeHostSecret", `{"oauthClientSecret":"`+codehostSecret+`"}`)
	w.giveSecret("ModelSecret", `{"openaiApiKey":"key"}`)
	for _, f := range w.stack.Functions {
		changed := map[string]string{"APP_URL": ""} // browsers use the URL of the gateway
		if f.Name == "MailerFunction" {
			changed = nil
		}
		w.lambda[f.Name] = w.start(f, changed)
	}
	front := gateway.New(gateway.Options{API: w.api("Api"), Now: time.Now, Logger: slog.New(slog.DiscardHandler), Invoke: w.invoke})
	server := httptest.NewServer(front)
	w.url = server.URL
	w.startSites()
	readers, err := triggers.Open(triggers.Options{
		Mappings: w.stack.EventSourceMappings, Invoke: w.invoke, Endpoint: services.URL, Positions: noPositions{}, Now: time.Now,
	})
	must(t, err)
	readers.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		server.Close()
		_ = readers.Close(ctx)
		for _, lambda := range w.lambda {
			_ = lambda.Close(ctx)
		}
		services.Close()
		_, _, _ = tables.Close(), queues.Close(), objects.Close()
	})
	return w
}

// start returns a runtime that runs a function. The variables in changed replace the variables of the template.
func (w *watched) start(f resources.Function, changed map[string]string) *runtime.Runtime {
	w.t.Helper()
	env := maps.Clone(f.Env)
	maps.Copy(env, changed)
	return runtime.New(runtime.Options{
		Functions: []runtime.Function{{
			Name: f.Name, Bootstrap: filepath.Join(platformtest.Binaries(w.t), filepath.Base(f.CodeURI)), Handler: f.Handler, MemoryMB: f.MemoryMB,
			Timeout: f.Timeout, Env: env,
		}},
		Lines:          func(_, line string) { w.recordCalls(line) },
		MaxConcurrency: 2, Now: time.Now, Region: "us-east-1", AccessKeyID: f.Name, SecretKey: "secret",
		ExtraEnv: map[string]string{"AWS_ENDPOINT_URL": w.services, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": w.services},
	})
}

// must stops the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *watched) invoke(ctx context.Context, in runtime.Invocation) (*runtime.Response, error) {
	return w.lambda[in.Function].Invoke(ctx, in)
}

// functionOf returns the function that sent a request to a service, or "".
func (w *watched) functionOf(r *http.Request) string {
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if credential == "" { // a presigned URL has the permissions of the role that signed it
		credential = r.URL.Query().Get("X-Amz-Credential")
	}
	function, _, _ := strings.Cut(credential, "/")
	if w.lambda[function] == nil {
		return ""
	}
	return function
}

// record records the permissions that a request of a function needs.
func (w *watched) record(r *http.Request) {
	function := w.functionOf(r)
	if function == "" {
		return // a request of the platform itself
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.used[function] == nil {
		w.used[function] = map[permission]bool{}
	}
	needed := slices.Concat(modelPermissions(r.URL.Path), mailPermissions(r.URL.Path))
	switch {
	case versionOf(r) != "":
		needed = []permission{permission("lambda:InvokeFunction " + versionOf(r) + ":*")}
	case s3.SignedFor(r) == "s3":
		needed = w.objectPermissions(r, body)
	case needed == nil:
		needed = w.needs(r.Header.Get("X-Amz-Target"), body)
		w.recordAccesses(function, r.Header.Get("X-Amz-Target"), body)
	}
	for _, p := range needed {
		w.used[function][p] = true
	}
}

// modelPermissions returns the permissions that a call of Bedrock with an inference profile needs: one for the profile
// and one for its model. It returns nil for other requests.
func modelPermissions(path string) (all []permission) {
	if !strings.HasSuffix(path, "/converse-stream") {
		return nil
	}
	for _, resource := range []string{"*::foundation-model/AiFoundationModel", "AWS::Region:AWS::AccountId:inference-profile/AiModel"} {
		all = append(all, permission("bedrock:InvokeModelWithResponseStream arn:AWS::Partition:bedrock:"+resource))
	}
	return all
}

// resourceFields contains the fields that identify resources in the requests of all services.
type resourceFields struct {
	TableName, IndexName, QueueURL, SecretID string
	RequestItems                             map[string]json.RawMessage
	TransactItems                            []map[string]struct{ TableName string }
}

// needs returns the permissions that a request needs. A transaction needs the permissions of its writes. A batch of
// messages needs the permission for a single message.
func (w *watched) needs(target string, body []byte) (all []permission) {
	var a resourceFields
	if err := json.Unmarshal(body, &a); err != nil {
		w.t.Errorf("the request of %s is not valid JSON: %v", target, err)
	}
	service, operation, _ := strings.Cut(target, ".")
	name := w.logicalID
	switch {
	case service == "AmazonSQS":
		action := strings.TrimSuffix(operation, "Batch")
		return []permission{permission("sqs:" + action + " " + name(a.QueueURL[strings.LastIndex(a.QueueURL, "/")+1:]))}
	case service == "CodeDeploy_20141006":
		return []permission{permission("codedeploy:" + operation + " " + deploymentGroups)}
	case service == "secretsmanager":
		return []permission{permission("secretsmanager:" + operation + " " + name(a.SecretID))}
	case len(a.TransactItems) > 0:
		for _, item := range a.TransactItems {
			for kind, part := range item {
				action := map[string]string{"ConditionCheck": "ConditionCheckItem"}[kind]
				if action == "" {
					action = kind + "Item"
				}
				all = append(all, permission("dynamodb:"+action+" "+name(part.TableName)))
			}
		}
		return all
	case len(a.RequestItems) > 0:
		for table := range a.RequestItems {
			all = append(all, permission("dynamodb:"+operation+" "+name(table)))
		}
		return all
	case a.IndexName != "":
		return []permission{permission("dynamodb:" + operation + " " + name(a.TableName) + "/index/" + a.IndexName)}
	}
	return []permission{permission("dynamodb:" + operation + " " + name(a.TableName))}
}

// logicalID returns the name of a resource in the template, or the name itself if the template does not contain it.
func (w *watched) logicalID(name string) string {
	for _, t := range w.stack.Tables {
		if t.Name == name {
			return t.LogicalID
		}
	}
	for _, q := range w.stack.Queues {
		if q.Name == name {
			return q.LogicalID
		}
	}
	for _, b := range w.stack.Buckets {
		if b.Name == name {
			return b.LogicalID
		}
	}
	for _, s := range w.stack.Secrets {
		if s.Name == name || s.ARN == name {
			return s.LogicalID
		}
	}
	return name
}

// TestRolesGrantExactlyTheUsedPermissions makes every function execute all of its operations, and compares the
// permissions that it used, and those that Lambda needs for it, with the permissions of its role in the deployed
// template. A role must not lack a permission, and must not have one that is never used. The same holds for the keys
// and attributes to which the conditions of its statements limit it.
func TestRolesGrantExactlyTheUsedPermissions(t *testing.T) {
	t.Parallel()
	template := templatetest.Transformed(t)
	w := newWatched(t)
	w.callEverything()
	w.checkCalls(t)
	w.mu.Lock()
	defer w.mu.Unlock()
	roles := template.Functions()
	for function, role := range roles {
		granted, needed := template.Granted(t, role), template.NeededByLambda(function)
		maps.Copy(needed, w.used[function])
		for _, p := range slices.Sorted(maps.Keys(needed)) {
			if !granted[p] {
				t.Errorf("the role of %s lacks the permission %s", function, p)
			}
		}
		for _, p := range slices.Sorted(maps.Keys(granted)) {
			if !needed[p] {
				t.Errorf("the role of %s has the permission %s, which is never used", function, p)
			}
		}
		w.checkConditions(function, template.Statements(t, role))
	}
	if len(roles) != len(w.stack.Functions) {
		t.Errorf("%d functions have roles, want all %d", len(roles), len(w.stack.Functions))
	}
}
