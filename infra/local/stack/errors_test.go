package stack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"devplatform/infra/local/stack"
)

// errorCase is a template and its problems. "%" means "not supported by the local platform".
type errorCase struct {
	template string
	want     []string
}

func run(t *testing.T, prefix string, cases map[string]errorCase) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := stack.Parse("t.yaml", []byte(prefix+test.template), stack.Options{Parameters: map[string]string{}})
			if len(test.want) == 0 {
				if err != nil {
					t.Errorf("%v", err)
				}
				return
			}
			if got != nil {
				t.Error("got a stack together with the errors")
			}
			want := make([]string, len(test.want))
			for i, line := range test.want {
				want[i] = "t.yaml:" + strings.Replace(line, "%", "not supported by the local platform", 1)
			}
			wantError(t, err, want...)
		})
	}
}

func TestTemplateErrors(t *testing.T) {
	t.Parallel()
	run(t, "", map[string]errorCase{
		"empty":             {"", []string{"1: is not a template: it has no Resources"}},
		"a list":            {"- a", []string{"1: is not a template: it has no Resources"}},
		"no resources":      {"Description: x", []string{"1: Resources: is missing or empty"}},
		"two documents":     {"Resources: {}\n---\nResources: {}", []string{"2: a second YAML document begins here, but a template is a single one"}},
		"mappings":          {"Mappings: {}\nResources: {A: {Type: AWS::KMS::Key}}", []string{"1: Mappings: this section is %"}},
		"unknown section":   {"Hooks: {}\nResources: {A: {Type: AWS::KMS::Key}}", []string{"1: Hooks: this section is %"}},
		"section no map":    {"Resources: []", []string{"1: Resources: must be a mapping"}},
		"alias":             {"Metadata: &a {}\nResources: *a", []string{"2: Resources: YAML aliases are not supported by CloudFormation"}},
		"merge":             {"Metadata: &a {}\nResources:\n  <<: *a", []string{"3: Resources: YAML merge keys are not supported by CloudFormation"}},
		"twice":             {"Resources:\n  A: {Type: AWS::KMS::Key}\n  A: {Type: AWS::KMS::Key}", []string{"3: Resources.A: is defined twice"}},
		"other transform":   {"Transform: [AWS::Serverless-2016-10-31, AWS::LanguageExtensions]\nResources: {A: {Type: AWS::KMS::Key}}", []string{"1: Transform: only AWS::Serverless-2016-10-31 is supported by the local platform"}},
		"no transform":      {"Resources: {A: {Type: AWS::Serverless::Api, Properties: {StageName: s}}}", []string{"1: A: Type: AWS::Serverless::Api needs Transform: AWS::Serverless-2016-10-31"}},
		"no type":           {"Resources: {A: {}}", []string{"1: A: Type: is missing"}},
		"no value in lists": {"Conditions: {Never: !Equals [a, b]}\nResources: {Q: {Type: AWS::S3::Bucket, Properties: {CorsConfiguration: {CorsRules: [!If [Never, {}, !Ref AWS::NoValue]]}}}}", nil},
		"logical id":        {"Resources: {a-b: {Type: AWS::KMS::Key}}", []string{"1: a-b: a logical id has 1 to 255 letters and digits"}},
		"unknown type":      {"Resources:\n  Q: {Type: AWS::Kinesis::Stream}\n  B: {Type: AWS::SSM::Parameter}", []string{"2: Q: Type: AWS::Kinesis::Stream is %", "3: B: Type: AWS::SSM::Parameter is %"}},
		"unknown attribute": {"Resources: {A: {Type: AWS::KMS::Key, Connectors: {}}}", []string{"1: A: Connectors: %"}},
		"properties a list": {"Resources: {A: {Type: AWS::KMS::Key, Properties: []}}", []string{"1: A: Properties: must be a mapping"}},
		"outputs":           {"Resources: {A: {Type: AWS::KMS::Key}}\nOutputs: {O: {Value: !ImportValue x}}", nil},
		"rules": {"Resources: {A: {Type: AWS::KMS::Key}}\nRules: {N: {Assertion: []}, E: {Assertions: [{Asserts: x}]}}", []string{
			"2: Rules: N.Assertions: must be a list", "2: Rules: E.Assertions[0].Assert: is missing"}},
		"condition": {"Resources: {A: {Type: AWS::S3::Bucket, Condition: C}}", []string{"1: A: Condition: there is no condition C"}},
	})
}

func TestParameterErrors(t *testing.T) {
	t.Parallel()
	run(t, "Resources: {A: {Type: AWS::KMS::Key}}\nParameters:\n", map[string]errorCase{
		"no default":      {"  P: {Type: String}", []string{"3: Parameters: P: has no default, and no value was given"}},
		"not allowed":     {"  P: {Type: String, Default: c, AllowedValues: [a, b]}", []string{`3: Parameters: P: the value "c" is not one of AllowedValues (a, b)`}},
		"pattern":         {"  P: {Type: String, Default: xay, AllowedPattern: 'a|b'}", []string{`3: Parameters: P: the value "xay" does not match AllowedPattern a|b`}},
		"not a number":    {"  P: {Type: Number, Default: ten}", []string{`3: Parameters: P: the value "ten" is not a whole number`}},
		"too low":         {"  P: {Type: Number, Default: 0, MinValue: 1}", []string{`3: Parameters: P: the value "0" is below MinValue`}},
		"too high":        {"  P: {Type: Number, Default: 9, MaxValue: 8}", []string{`3: Parameters: P: the value "9" is above MaxValue`}},
		"list":            {"  P: {Type: CommaDelimitedList, Default: 'a,b'}", []string{`3: Parameters: P.Type: "CommaDelimitedList" is %: use String or Number`}},
		"unknown":         {"  P: {Type: String, Default: x, Immutable: true}", []string{"3: Parameters: P.Immutable: %"}},
		"several at once": {"  P: {Type: String}\n  Q: {Type: Number, Default: x}", []string{"3: Parameters: P: has no default, and no value was given", `4: Parameters: Q: the value "x" is not a whole number`}},
	})
	_, err := stack.Parse("t.yaml", []byte("Resources: {A: {Type: AWS::KMS::Key}}"), stack.Options{Parameters: map[string]string{"Typo": "x"}})
	wantError(t, err, "t.yaml:1: Parameters: Typo: a value was given, but the template does not have this parameter")
}

func TestConditionErrors(t *testing.T) {
	t.Parallel()
	run(t, "Resources: {A: {Type: AWS::KMS::Key}}\nConditions:\n", map[string]errorCase{
		"circle":       {"  C: !Condition D\n  D: !Not [!Condition C]", []string{"4: Conditions: D.Fn::Not[0].Condition: condition C depends on itself"}},
		"unknown":      {"  C: !Condition D", []string{"3: Conditions: C.Condition: there is no condition D"}},
		"no function":  {"  C: true", []string{"3: Conditions: C: must be a condition function"}},
		"if":           {"  C: !If [a, b, c]", []string{"3: Conditions: C.Fn::If: Fn::If is % in a condition"}},
		"rules only":   {"  C: !Contains [[a], a]", []string{"3: Conditions: C.Fn::Contains: Fn::Contains is % in a condition"}},
		"one of and":   {"  C: !And [!Equals [a, a]]", []string{"3: Conditions: C.Fn::And: takes a list of 2 to 10 conditions"}},
		"three equal":  {"  C: !Equals [a, a, a]", []string{"3: Conditions: C.Fn::Equals: takes a list of two values"}},
		"on resources": {"  C: !Equals [!Ref A, a]", []string{"3: Conditions: C.Fn::Equals: there is no parameter A, and conditions can only refer to parameters"}},
	})
}

func TestFunctionErrors(t *testing.T) {
	t.Parallel()
	run(t, header, map[string]errorCase{
		"name":            {"      FunctionName: x", []string{"9: F: Properties.FunctionName: %"}},
		"architecture":    {"      Architectures: [x86]", []string{`9: F: Properties.Architectures[0]: "x86" is %: use arm64 or x86_64`}},
		"layers":          {"      Layers: [x]", []string{"9: F: Properties.Layers: %"}},
		"layers left out": {"      Layers: !If [Never, [x], !Ref AWS::NoValue]\nConditions: {Never: !Equals [a, b]}", nil},
		"no reference":    {"      Description: !Sub '${Nowhere}${Nobody.Arn}'", []string{"9: F: Properties.Description: there is no parameter or resource Nowhere"}},
		"several":         {"      Layers: []\n      Timeout: 901\n      MemorySize: 64", []string{"9: F: Properties.Layers: %", `10: F: Properties.Timeout: "901" must be a whole number between 1 and 900`, `11: F: Properties.MemorySize: "64" must be a whole number between 128 and 10240`}},
		"no concurrency":  {"      ReservedConcurrentExecutions: 0", []string{`9: F: Properties.ReservedConcurrentExecutions: "0" must be a whole number between 1 and 100000`}},
		"variable":        {"      Environment: {Variables: {1x: y}}", []string{`9: F: Properties.Environment.Variables: "1x" is not a valid name of a variable on Lambda`}},
		"large":           {"      Environment: {Variables: {LARGE: " + strings.Repeat("x", 4092) + "}}", []string{"9: F: Properties.Environment.Variables: are larger than Lambda's limit of 4,096 bytes"}},
		"nested variable": {"      Environment: {Variables: {AA: [x]}}", []string{"9: F: Properties.Environment.Variables.AA: must be a string"}},
		"environment":     {"      Environment: {Secrets: {}}", []string{"9: F: Properties.Environment.Secrets: %"}},
		"inert":           {"      Role: !GetAtt FRole.Arn\n      Policies: [AmazonDynamoDBFullAccess]\n      EphemeralStorage: {Size: 512}", nil},
		"event's name":    {"      Events: {a-b: {Type: Api, Properties: {Path: /, Method: get}}}", []string{"9: F: Properties.Events.a-b: a logical id has 1 to 255 letters and digits"}},
		"event source":    {"      Events:\n        S: {Type: Kinesis}\n        C: {Type: EventBridgeRule}", []string{"10: F: Properties.Events.S.Type: event source Kinesis is %", "11: F: Properties.Events.C.Type: event source EventBridgeRule is %"}},
		"import":          {"      Description: !ImportValue x", []string{"9: F: Properties.Description: Fn::ImportValue is %"}},
		"dynamic":         {"      Environment: {Variables: {AA: '{{resolve:ssm:x}}'}}", []string{"9: F: Properties.Environment.Variables.AA: dynamic references are %"}},
		"attribute":       {"      Description: !GetAtt T.TableId\n  T: {Type: AWS::SQS::Queue}", []string{"9: F: Properties.Description: attribute TableId of T (AWS::SQS::Queue) is %"}},
		"ref to inert":    {"      Description: !Ref K\n  K: {Type: AWS::KMS::Key}", []string{"9: F: Properties.Description: Ref to K (AWS::KMS::Key) is %"}},
		"left out":        {"      Description: !Ref T\n  T: {Type: AWS::SQS::Queue, Condition: Never}\nConditions: {Never: !Equals [a, b]}", []string{"9: F: Properties.Description: refers to T, whose condition is false"}},
		"select":          {"      Description: !Select [2, [a, b]]", []string{"9: F: Properties.Description: Fn::Select: the list has no element 2"}},
		"join of maps":    {"      Description: !Join ['', [{a: b}]]", []string{"9: F: Properties.Description: Fn::Join joins strings only"}},
	})
	run(t, "Transform: AWS::Serverless-2016-10-31\nResources:\n  F:\n    Type: AWS::Serverless::Function\n", map[string]errorCase{
		"what it must": {"    Properties: {Runtime: go1.x}", []string{"5: F: Properties.CodeUri: is missing", "5: F: Properties.Handler: is missing", `5: F: Properties.Runtime: "go1.x" is %: use provided.al2023`}},
		"far code":     {"    Properties: {Runtime: provided.al2023, Handler: h, CodeUri: s3://b/k}", []string{`5: F: Properties.CodeUri: "s3://b/k" must be a folder in the template's folder`}},
		"outer code":   {"    Properties: {Runtime: provided.al2023, Handler: h, CodeUri: ../x}", []string{`5: F: Properties.CodeUri: "../x" must be a folder in the template's folder`}},
		"no value":     {"    Properties: {Runtime: provided.al2023, Handler: !Ref AWS::NoValue, CodeUri: c}", []string{"5: F: Properties.Handler: is missing"}},
		"bad value":    {"    Properties: {Runtime: provided.al2023, Handler: !Ref Nowhere, CodeUri: c}", []string{"5: F: Properties.Handler: there is no parameter or resource Nowhere"}},
		"bucket code":  {"    Properties: {Runtime: provided.al2023, Handler: h, CodeUri: {Bucket: b}}", []string{"5: F: Properties.CodeUri: must be a string"}},
	})
}

func TestGlobalsErrors(t *testing.T) {
	t.Parallel()
	run(t, header+"  G: {Type: AWS::Serverless::Function, Properties: {Runtime: provided.al2023, Handler: h, CodeUri: g}}\nGlobals:\n", map[string]errorCase{
		"once":      {"  Function: {Layers: []}", []string{"11: Globals: Function.Layers: %"}},
		"http api":  {"  HttpApi: {}", []string{"11: Globals: HttpApi: %"}},
		"bad value": {"  Function: {Timeout: 0}", []string{`11: F: Properties.Timeout: "0" must be a whole number between 1 and 900`}},
		"no map":    {"  Function: []", []string{"11: Globals: Function: must be a mapping"}},
	})
}

func TestRouteErrors(t *testing.T) {
	t.Parallel()
	route := func(method, path, more string) string {
		return "{Type: Api, Properties: {Method: " + method + ", Path: '" + path + "', RestApiId: !Ref A" + more + "}}\n"
	}
	one := func(path, problem string) errorCase {
		return errorCase{"        E: " + route("GET", path, ""), []string{`10: F: Properties.Events.E.Properties.Path: "` + path + `" ` + problem}}
	}
	cases := map[string]errorCase{
		"no mapping":     {"        - E\n", []string{"9: F: Properties.Events: must be a mapping"}},
		"no slash":       one("api", "must begin with /"),
		"empty part":     one("/api//x", "has an empty part"),
		"trailing slash": one("/api/", "has an empty part"),
		"greedy inside":  one("/{proxy+}/x", "has the greedy parameter {proxy+} before its end"),
		"half parameter": one("/x{id}", "has the part x{id}, which is neither literal nor a parameter"),
		"twice a name":   one("/{id}/{id+}", "has the parameter id twice"),
		"blank":          one("/a b", "has the part a b, which is neither literal nor a parameter"),
		"method":         {"        E: " + route("FETCH", "/", ""), []string{`10: F: Properties.Events.E.Properties.Method: "FETCH" is not a method of API Gateway`}},
		"nothing":        {"        E: {Type: Api}\n", []string{"10: F: Properties.Events.E.Properties.Path: is missing", "10: F: Properties.Events.E.Properties.Method: is missing", "10: F: Properties.Events.E.Properties.RestApiId: is missing"}},
		"duplicate":      {"        E: " + route("GET", "/x", "") + "        D: " + route("get", "/x", ""), []string{"11: F: Properties.Events.D: GET /x is already a route to F"}},
		"siblings":       {"        E: " + route("GET", "/x/{id}", "") + "        D: " + route("GET", "/x/{proxy+}", ""), []string{"11: F: Properties.Events.D: /x/{proxy+}: API Gateway can't have this parameter beside {id} of /x/{id}"}},
		"other parents":  {"        E: " + route("GET", "/x/{id}", "") + "        D: " + route("GET", "/y/{proxy+}", "") + "        C: " + route("ANY", "/x/{id}/y/{proxy+}", ""), nil},
		"any beside get": {"        E: " + route("GET", "/x", "") + "        D: " + route("ANY", "/x", ""), nil},
		"too long":       {"        E: " + route("GET", "/x", ", TimeoutInMillis: 29001"), []string{`10: F: Properties.Events.E.Properties.TimeoutInMillis: 29001 is more than 29000, the maximum unless ResponseTransferMode is RESPONSE_STREAM`}},
		"long stream":    {"        E: " + route("GET", "/x", ", TimeoutInMillis: 900000, ResponseTransferMode: RESPONSE_STREAM"), nil},
		"authoriser":     {"        E: " + route("GET", "/x", ", Auth: {Authorizer: A}"), []string{"10: F: Properties.Events.E.Properties.Auth: %"}},
		"no api":         {"        E: {Type: Api, Properties: {Method: GET, Path: /x, RestApiId: abc}}\n", []string{"10: F: Properties.Events.E.Properties.RestApiId: must refer to an AWS::Serverless::Api of this template"}},
	}
	for name, test := range cases {
		test.template += "  A: {Type: AWS::Serverless::Api, Properties: {StageName: s}}\n"
		cases[name] = test
	}
	run(t, header+"      Events:\n", cases)
}

func TestAPIErrors(t *testing.T) {
	t.Parallel()
	run(t, "Transform: AWS::Serverless-2016-10-31\nResources:\n  Api:\n    Type: AWS::Serverless::Api\n    Properties:\n", map[string]errorCase{
		"no stage":       {"      Description: x", []string{"6: Api: Properties.StageName: is missing"}},
		"cors":           {"      StageName: s\n      Cors: \"'*'\"\n      DefinitionBody: {}", []string{"7: Api: Properties.Cors: %", "8: Api: Properties.DefinitionBody: %"}},
		"authorisers":    {"      StageName: s\n      Auth: {DefaultAuthorizer: A, Authorizers: {}}", []string{"7: Api: Properties.Auth.DefaultAuthorizer: %", "7: Api: Properties.Auth.Authorizers: %"}},
		"response type":  {"      StageName: s\n      GatewayResponses: {NOT_FOUND: {}}", []string{"7: Api: Properties.GatewayResponses.NOT_FOUND: API Gateway has no response of this type"}},
		"response value": {"      StageName: s\n      GatewayResponses: {THROTTLED: {StatusCode: 42, ResponseParameters: {Headers: {Retry-After: context.path}, Paths: {}}, ResponseTemplates: {a/b: x, application/json: $context.path}}}", []string{`7: Api: Properties.GatewayResponses.THROTTLED.StatusCode: "42" must be a whole number between 100 and 599`, "7: Api: Properties.GatewayResponses.THROTTLED.ResponseParameters.Paths: %", "7: Api: Properties.GatewayResponses.THROTTLED.ResponseParameters.Headers: Retry-After: \"context.path\" is %: use a 'literal' or context.requestId", "7: Api: Properties.GatewayResponses.THROTTLED.ResponseTemplates: variables are %", "7: Api: Properties.GatewayResponses.THROTTLED.ResponseTemplates: more than one media type is %"}},
		"responses":      {"      StageName: s\n      GatewayResponses: [NOT_FOUND]", []string{"7: Api: Properties.GatewayResponses: must be a mapping"}},
	})
}

func TestTableErrors(t *testing.T) {
	t.Parallel()
	const keys = "      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]\n      KeySchema: [{AttributeName: pk, KeyType: HASH}]\n"
	run(t, "Resources:\n  T:\n    Type: AWS::DynamoDB::Table\n    Properties:\n", map[string]errorCase{
		"provisioned":   {keys + "      BillingMode: PROVISIONED\n      ProvisionedThroughput: {ReadCapacityUnits: 1, WriteCapacityUnits: 1}", nil},
		"local indexes": {keys + "      BillingMode: PAY_PER_REQUEST\n      LocalSecondaryIndexes: []", []string{"8: T: Properties.LocalSecondaryIndexes: %"}},
		"stream":        {keys + "      BillingMode: PAY_PER_REQUEST\n      StreamSpecification: {StreamViewType: OLD_IMAGE, ResourcePolicy: {PolicyDocument: {}}, Tags: []}", nil},
		"stream without view": {keys + "      BillingMode: PAY_PER_REQUEST\n      StreamSpecification: {StreamEnabled: true}", []string{
			"8: T: Properties.StreamSpecification.StreamEnabled: %", "8: T: Properties.StreamSpecification.StreamViewType: is missing"}},
		"stream's view": {keys + "      BillingMode: PAY_PER_REQUEST\n      StreamSpecification: {StreamViewType: ALL}", []string{
			`8: T: Properties.StreamSpecification.StreamViewType: "ALL" is %: use KEYS_ONLY, NEW_IMAGE, OLD_IMAGE or NEW_AND_OLD_IMAGES`}},
		"types": {"      AttributeDefinitions: [{AttributeName: a, AttributeType: X}]\n      KeySchema: [{AttributeName: a, KeyType: SORT}]", []string{
			`5: T: Properties.AttributeDefinitions[0].AttributeType: "X" is %: use S, N or B`,
			`6: T: Properties.KeySchema[0].KeyType: "SORT" is %: use HASH or RANGE`}},
		"expiry": {keys + "      TimeToLiveSpecification: {Enabled: true}", []string{"7: T: Properties.TimeToLiveSpecification: must have an AttributeName if it is enabled"}},
		"expiry without state": {keys + "      TimeToLiveSpecification: {AttributeName: a}", []string{
			"7: T: Properties.TimeToLiveSpecification.Enabled: is missing"}},
		"no expiry": {keys + "      TimeToLiveSpecification: {Enabled: false}", nil},
		"index": {keys + "      GlobalSecondaryIndexes:\n        - Projection: {ProjectionType: SOME}\n        - IndexName: i", []string{
			"8: T: Properties.GlobalSecondaryIndexes[0].IndexName: is missing",
			`8: T: Properties.GlobalSecondaryIndexes[0].Projection.ProjectionType: "SOME" is %: use ALL, KEYS_ONLY or INCLUDE`,
			"9: T: Properties.GlobalSecondaryIndexes[1].Projection.ProjectionType: is missing"}},
	})
}

func TestSecretErrors(t *testing.T) {
	t.Parallel()
	run(t, "Resources:\n  S:\n    Type: AWS::SecretsManager::Secret\n    Properties:\n", map[string]errorCase{
		"text":    {"      SecretString: x", []string{"5: S: Properties.SecretString: %", "5: S: Properties.GenerateSecretString: is missing"}},
		"half":    {"      GenerateSecretString: {GenerateStringKey: k}", []string{"5: S: Properties.GenerateSecretString: must have both SecretStringTemplate and GenerateStringKey, or neither"}},
		"length":  {"      GenerateSecretString: {PasswordLength: 5000}", []string{`5: S: Properties.GenerateSecretString.PasswordLength: "5000" must be a whole number between 1 and 4096`}},
		"boolean": {"      GenerateSecretString: {IncludeSpace: maybe}", []string{`5: S: Properties.GenerateSecretString.IncludeSpace: "maybe" must be true or false`}},
		"unknown": {"      GenerateSecretString: {}\n      HostedRotationLambda: {}", []string{"6: S: Properties.HostedRotationLambda: %"}},
	})
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := stack.Load(filepath.Join(dir, "none.yaml"), stack.Options{}); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("%v", err)
	}
	path := filepath.Join(dir, "broken.yaml")
	if err := os.WriteFile(path, []byte("Resources: {"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := stack.Load(path, stack.Options{}); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("%v", err)
	}
}
