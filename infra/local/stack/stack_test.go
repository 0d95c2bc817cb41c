package stack_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/stack"
)

func TestServiceTemplate(t *testing.T) {
	t.Parallel()
	got, err := stack.Load("testdata/service.yaml", stack.Options{
		StackName: "dev", Region: "eu-west-1", Account: "123456789012",
		Overrides: map[string]string{"LIMIT": "3", "LEVEL": "warn", "NOT_GIVEN": "x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	const tableARN = "arn:aws:dynamodb:eu-west-1:123456789012:table/dev-Table"
	const authARN = "arn:aws:lambda:eu-west-1:123456789012:function:AuthFunction"
	keysARN := resources.SecretARN("eu-west-1", "123456789012", "dev-Keys")
	want := &resources.Stack{
		Region: "eu-west-1", Dir: dir,
		Functions: []resources.Function{
			{
				LogicalID: "AuthFunction", Name: "AuthFunction", Alias: "live", CodeURI: "functions/auth",
				Handler: "bootstrap", MemoryMB: 256, Timeout: 20 * time.Second,
				Env: map[string]string{
					"SHARED": "everywhere", "LEVEL": "warn", "TABLE": "dev-Table", "TABLE_ARN": tableARN, "SECRET": keysARN, "LIMIT": "3",
					"ORIGINS": "https://a.example https://b.example", "FIRST": "a", "DEBUG": "true", "FILLED": "me@dev",
					"WHERE": "dev/eu-west-1/123456789012/" + tableARN + "/${Literal}",
				},
			},
			{
				LogicalID: "AiFunction", Name: "AiFunction", CodeURI: "functions/ai",
				Handler: "bootstrap", MemoryMB: 512, Timeout: 15 * time.Minute,
				Env: map[string]string{"SHARED": "everywhere", "LEVEL": "warn", "AUTH": "AuthFunction", "AUTH_ARN": authARN},
			},
		},
		APIs: []resources.API{{
			LogicalID: "Api", ID: got.APIs[0].ID, Name: "dev", Stage: "dev",
			Routes: []resources.Route{
				{Method: "ANY", Path: "/api/auth", Function: "AuthFunction", Timeout: 29 * time.Second},
				{Method: "ANY", Path: "/api/auth/{proxy+}", Function: "AuthFunction", Timeout: 29 * time.Second},
				{Method: "POST", Path: "/api/ai/{id}/chat", Function: "AiFunction", Stream: true, Timeout: 15 * time.Minute},
			},
			GatewayResponses: map[string]resources.GatewayResponse{
				"MISSING_AUTHENTICATION_TOKEN": {
					StatusCode: 404, Headers: map[string]string{"X-Request-Id": "context.requestId", "Cache-Control": "'no-store'"},
					MediaType: "application/json", Body: `{"error":"There is no such path."}`,
				},
				"DEFAULT_5XX": {MediaType: "application/json", Body: `{"error":"Sorry."}`},
			},
			IsBinary: true,
		}},
		Tables: []resources.Table{
			{
				LogicalID: "Table", Name: "dev-Table", TTLAttribute: "expiresAt",
				Attributes: []resources.Attribute{{Name: "pk", Type: "S"}, {Name: "sk", Type: "S"}, {Name: "dueAt", Type: "N"}},
				Key:        []resources.KeyPart{{Name: "pk", Type: "HASH"}, {Name: "sk", Type: "RANGE"}},
				Indexes: []resources.Index{{
					Name: "due", Key: []resources.KeyPart{{Name: "sk", Type: "HASH"}, {Name: "dueAt", Type: "RANGE"}},
					Projection: resources.Projection{Type: "INCLUDE", NonKeyAttributes: []string{"state"}},
				}},
			},
		},
		Secrets: []resources.Secret{
			{
				LogicalID: "Keys", Name: "dev-Keys", ARN: keysARN, Description: "Key ring",
				Generate: &resources.GenerateSecretString{Length: 64, ExcludePunctuation: true, RequireEachIncludedType: true, Template: `{"current":"k1"}`, Key: "k1"},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(got.APIs[0].ID) != 10 {
		t.Errorf("API id %q", got.APIs[0].ID)
	}
}

func TestConditionsAndRules(t *testing.T) {
	t.Parallel()
	load := func(parameters map[string]string) (*resources.Stack, error) {
		return stack.Load("testdata/service.yaml", stack.Options{Parameters: parameters})
	}
	got, err := load(map[string]string{"Stage": "prod", "Concurrency": "7"})
	if err != nil {
		t.Fatal(err)
	}
	if f := got.Functions[0]; f.ReservedConcurrency != 7 || f.MemoryMB != 256 {
		t.Errorf("concurrency %d, memory %d", f.ReservedConcurrency, f.MemoryMB)
	}
	if len(got.Functions) != 3 {
		t.Errorf("functions %d", len(got.Functions))
	}
	if got.APIs[0].Stage != "prod" {
		t.Errorf("stage %q", got.APIs[0].Stage)
	}
	got, err = stack.Load("testdata/service.yaml", stack.Options{
		Parameters: map[string]string{"Concurrency": "7"}, Defaults: map[string]string{"Stage": "prod", "Concurrency": "8", "Unknown": "x"},
	})
	if err != nil || got.APIs[0].Stage != "prod" || got.Functions[0].ReservedConcurrency != 7 {
		t.Errorf("with defaults: %v, want the stage prod of the defaults and the concurrency 7 of the parameters", err)
	}
	_, err = load(map[string]string{"Stage": "prod"})
	wantError(t, err, "testdata/service.yaml:26: Rules: ProdIsGuarded.Assertions[0]: the assertion fails: prod needs a reserved concurrency")
}

// wantError compares the problems of an error.
func wantError(t *testing.T, err error, want ...string) {
	t.Helper()
	var found *stack.Error
	if !errors.As(err, &found) {
		t.Fatalf("%v, want\n%s", err, strings.Join(want, "\n"))
	}
	var got []string
	for _, problem := range found.Problems {
		got = append(got, problem.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// header is the beginning of most templates below. Properties of the function F may follow from line 9 on.
const header = `Transform: AWS::Serverless-2016-10-31
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      Runtime: provided.al2023
      Handler: bootstrap
      CodeUri: functions/f
`

func TestIntrinsicFunctions(t *testing.T) {
	t.Parallel()
	const rest = `
  G: {Type: AWS::Serverless::Function, Properties: {Runtime: provided.al2023, Handler: h, CodeUri: g, AutoPublishAlias: live}}
  Q: {Type: AWS::SQS::Queue}
  A: {Type: AWS::Serverless::Api, Properties: {StageName: !Ref P}}
Parameters:
  P: {Type: String, Default: value}
Conditions:
  Yes: !Equals [1, '1']
  No: !Or [!Equals [a, b], !Not [!Condition Yes]]
`
	for expression, want := range map[string]string{
		`!Ref P`:   "value",
		`{Ref: P}`: "value",
		`!Join ['', [a, !Ref P, !Ref AWS::NoValue]]`:      "avalue",
		`!Join [',', !Split ['-', a-b-c]]`:                "a,b,c",
		`{"Fn::Join": ["-", ["a", {"Fn::Sub": "${P}"}]]}`: "a-value",
		`!Sub 'x${P}y${!P}${AWS::Partition}$${'`:          "xvaluey${P}aws$${",
		`!Sub ['${a}${b}', {a: !Ref P, b: 2}]`:            "value2",
		`!If [No, a, !If [Yes, b, c]]`:                    "b",
		`!Ref G`:                                          "G",
		`!Ref Q`:                                          "https://sqs.us-east-1.amazonaws.com/000000000000/local-Q",
		`!GetAtt Q.QueueUrl`:                              "https://sqs.us-east-1.amazonaws.com/000000000000/local-Q",
		`!GetAtt Q.QueueName`:                             "local-Q",
		`!GetAtt [Q, Arn]`:                                "arn:aws:sqs:us-east-1:000000000000:local-Q",
		`{"Fn::GetAtt": Q.Arn}`:                           "arn:aws:sqs:us-east-1:000000000000:local-Q",
		`!GetAtt Q.Arn`:                                   "arn:aws:sqs:us-east-1:000000000000:local-Q",
		`!Ref A.Stage`:                                    "value",
		`!Sub '${G.Version}'`:                             "arn:aws:lambda:us-east-1:000000000000:function:G:1",
		`!Sub '${A.Stage}'`:                               "value",
		`!Ref AWS::URLSuffix`:                             "amazonaws.com",
		`007`:                                             "7",
		`True`:                                            "true",
		`2012-10-17`:                                      "2012-10-17",
		`''`:                                              "",
	} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			got, err := stack.Parse("t.yaml", []byte(header+"      Environment: {Variables: {VALUE: "+expression+"}}"+rest), stack.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if value := got.Functions[0].Env["VALUE"]; value != want {
				t.Errorf("%q, want %q", value, want)
			}
		})
	}
}

func TestGlobals(t *testing.T) {
	t.Parallel()
	const template = `Transform: [AWS::Serverless-2016-10-31]
Globals:
  Function:
    Runtime: provided.al2023
    Handler: bootstrap
    MemorySize: 256
    Environment: {Variables: {AA: global, BB: global}}
Resources:
  F: {Type: AWS::Serverless::Function, Properties: {CodeUri: f, MemorySize: 512, Environment: {Variables: {BB: own, CC: own}}}}
  G: {Type: AWS::Serverless::Function, Properties: {CodeUri: g, Environment: !If [Never, {}, {Variables: {ONLY: this}}]}}
Conditions: {Never: !Equals [a, b]}
`
	got, err := stack.Parse("t.yaml", []byte(template), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"AA": "global", "BB": "own", "CC": "own"}, got.Functions[0].Env); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"ONLY": "this"}, got.Functions[1].Env); diff != "" {
		t.Error(diff)
	}
	if got.Functions[0].MemoryMB != 512 || got.Functions[1].MemoryMB != 256 {
		t.Errorf("memory %d and %d", got.Functions[0].MemoryMB, got.Functions[1].MemoryMB)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(header)
	f.Add("Resources: {A: {Type: AWS::DynamoDB::Table, Properties: {KeySchema: !If [x, y]}}}")
	f.Add("Conditions: {A: !Condition A}\nResources: {A: {Type: X, Condition: A}}")
	f.Add(`{"Resources": {"A": {"Type": "AWS::SecretsManager::Secret", "Properties": {"Name": {"Fn::Sub": "${A.Id}"}}}}}`)
	f.Add(header + "      Events: {E: {Type: Api, Properties: {Path: '/{a+}', Method: get}}}\n")
	f.Add(header + readers + table)
	f.Add(header + queueReaders)
	f.Add(header + schedules)
	f.Fuzz(func(t *testing.T, template string) {
		got, err := stack.Parse("t.yaml", []byte(template), stack.Options{})
		if (got == nil) == (err == nil) {
			t.Errorf("%v and %v", got, err)
		}
		again, errAgain := stack.Parse("t.yaml", []byte(template), stack.Options{})
		if fmt.Sprint(errAgain) != fmt.Sprint(err) || !reflect.DeepEqual(again, got) {
			t.Errorf("%v, %v, and then %v, %v", got, err, again, errAgain)
		}
	})
}
