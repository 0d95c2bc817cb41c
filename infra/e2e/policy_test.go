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
	"devplatform/infra/local/runtime"
	"devplatform/infra/local/secrets"
	"devplatform/infra/local/sqs"
	"devplatform/infra/local/stack"
	"devplatform/infra/local/triggers"
	"devplatform/infra/platformtest"
	"devplatform/infra/templatetest"
)

type permission = templatetest.Permission

// watched is the platform put together in the test's process, each function with credentials of its own, so that every call to a
// service tells whose it was.
type watched struct {
	t        testing.TB
	stack    *stack.Stack
	url      string // the gateway's
	services string // the AWS services'
	lambda   map[string]*runtime.Runtime
	codehost *codehost.Server

	meanwhile func() // happens while a model is at work

	mu   sync.Mutex
	used map[string]map[permission]bool // by function
}

func newWatched(t testing.TB) *watched {
	t.Helper()
	w := &watched{t: t, lambda: map[string]*runtime.Runtime{}, used: map[string]map[permission]bool{}}
	tables, err := dynamodb.Open(dynamodb.Options{Now: time.Now})
	must(t, err)
	queues, err := sqs.Open(sqs.Options{Now: time.Now})
	must(t, err)
	vault, err := secrets.Open(secrets.Options{Now: time.Now})
	must(t, err)
	services := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.record(r)
		if strings.HasPrefix(r.URL.Path, "/model/") {
			w.bedrock(rw, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, codehostPath) {
			w.codehost.ServeHTTP(rw, r)
			return
		}
		switch service, _, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); service {
		case "AmazonSQS":
			queues.ServeHTTP(rw, r)
		case "secretsmanager":
			vault.ServeHTTP(rw, r)
		default:
			tables.ServeHTTP(rw, r)
		}
	}))
	w.services = services.URL
	oauth := w.openCodehost()
	w.stack, err = stack.Load(filepath.Join(platformtest.Root, "template.yaml"), stack.Options{QueueEndpoint: services.URL, Overrides: oauth})
	must(t, err)
	_, err = provision.Apply(t.Context(), w.stack, provision.Options{Endpoint: services.URL})
	must(t, err)
	w.giveSecret("ProvidersSecret", `{"oauthClientSecret":"`+codehostSecret+`","openaiApiKey":"key"}`)
	for _, f := range w.stack.Functions {
		w.lambda[f.Name] = w.start(f, nil)
	}
	front, err := gateway.New(gateway.Options{API: w.stack.APIs[0], Now: time.Now, Logger: slog.New(slog.DiscardHandler), Invoke: w.invoke})
	must(t, err)
	server := httptest.NewServer(front)
	w.url = server.URL
	readers, err := triggers.Open(triggers.Options{
		Mappings: w.stack.EventSourceMappings, Invoke: w.invoke, Endpoint: services.URL, Dir: t.TempDir(), Now: time.Now,
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
		_, _ = tables.Close(), queues.Close()
	})
	return w
}

// start makes ready to run a function, with some of its variables changed.
func (w *watched) start(f stack.Function, changed map[string]string) *runtime.Runtime {
	w.t.Helper()
	env := maps.Clone(f.Env)
	maps.Copy(env, changed)
	started, err := runtime.New(runtime.Options{
		Functions: []runtime.Function{{
			Name: f.Name, Bootstrap: filepath.Join(platformtest.Binaries(w.t), filepath.Base(f.CodeURI)), Handler: f.Handler, MemoryMB: f.MemoryMB,
			Timeout: f.Timeout, Env: env,
		}},
		MaxConcurrency: 2, Now: time.Now, Region: "us-east-1", AccessKeyID: f.Name, SecretKey: "secret",
		ExtraEnv: map[string]string{"AWS_ENDPOINT_URL": w.services, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": w.services},
	})
	must(w.t, err)
	return started
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *watched) invoke(ctx context.Context, in runtime.Invocation) (*runtime.Response, error) {
	return w.lambda[in.Function].Invoke(ctx, in)
}

// record notes what a request needs of its sender's role.
func (w *watched) record(r *http.Request) {
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	function, _, _ := strings.Cut(credential, "/")
	if w.lambda[function] == nil {
		return // the platform's own
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
	needed := modelPermissions(r.URL.Path)
	if needed == nil {
		needed = w.needs(r.Header.Get("X-Amz-Target"), body)
	}
	for _, p := range needed {
		w.used[function][p] = true
	}
}

// modelPermissions are those that a call of Bedrock by an inference profile needs: the profile's, and the model's behind it.
func modelPermissions(path string) (all []permission) {
	action := map[string]string{"converse": "InvokeModel", "converse-stream": "InvokeModelWithResponseStream"}[path[strings.LastIndex(path, "/")+1:]]
	if action == "" {
		return nil
	}
	for _, resource := range []string{"*::foundation-model/AiFoundationModel", "AWS::Region:AWS::AccountId:inference-profile/AiModel"} {
		all = append(all, permission("bedrock:"+action+" arn:AWS::Partition:bedrock:"+resource))
	}
	return all
}

// asked is what tells resources in the requests of all services.
type asked struct {
	TableName, IndexName, QueueURL, SecretID string
	RequestItems                             map[string]json.RawMessage
	TransactItems                            []map[string]struct{ TableName string }
}

// needs are the permissions that a request needs: a transaction's are those of its parts, a batch of messages is that of one.
func (w *watched) needs(target string, body []byte) (all []permission) {
	var a asked
	if err := json.Unmarshal(body, &a); err != nil {
		w.t.Errorf("%s: %v", target, err)
	}
	service, operation, _ := strings.Cut(target, ".")
	name := w.logicalID
	switch {
	case service == "AmazonSQS":
		action := strings.TrimSuffix(operation, "Batch")
		return []permission{permission("sqs:" + action + " " + name(a.QueueURL[strings.LastIndex(a.QueueURL, "/")+1:]))}
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

// logicalID is the template's name of a resource.
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
	for _, s := range w.stack.Secrets {
		if s.Name == name || s.ARN == name {
			return s.LogicalID
		}
	}
	return name
}

// TestRolesHoldWhatFunctionsCall lets every function do everything that it does, and compares what it called, and what Lambda does in
// its name, with what its role lets it do in the template that AWS gets, managed policies included: action by action, table by table,
// no more and no less. On AWS a call without its permission is an error for somebody.
func TestRolesHoldWhatFunctionsCall(t *testing.T) {
	t.Parallel()
	template := templatetest.Transformed(t)
	w := newWatched(t)
	w.story()
	w.mu.Lock()
	defer w.mu.Unlock()
	roles := template.Functions()
	for function, role := range roles {
		granted, needed := template.Granted(t, role), template.NeededByLambda(function)
		maps.Copy(needed, w.used[function])
		for _, p := range slices.Sorted(maps.Keys(needed)) {
			if !granted[p] {
				t.Errorf("%s needs %s, which its role does not let it", function, p)
			}
		}
		for _, p := range slices.Sorted(maps.Keys(granted)) {
			if !needed[p] {
				t.Errorf("%s never needs %s, which its role lets it", function, p)
			}
		}
	}
	if len(roles) != len(w.stack.Functions) {
		t.Errorf("%d functions have roles, of %d", len(roles), len(w.stack.Functions))
	}
}
