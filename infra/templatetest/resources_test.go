package templatetest_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "devplatform/infra/templatetest"
)

// of are the resources of a type, by logical id, in order.
func of(tpl *Template, typ string) (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(tpl.Resources)) {
		if tpl.Resources[id].Type == typ {
			ids = append(ids, id)
		}
	}
	return ids
}

// value parses JSON, as which values of templates are best written down.
func value(t *testing.T, text string) any {
	t.Helper()
	var parsed any
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

const kept = "RetainExceptOnCreate"

// TestWhatIsKeptIsSafe holds every resource that keeps something to what protects it.
func TestWhatIsKeptIsSafe(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	for typ, wanted := range map[string]map[string]string{ // by the path of a property, its value
		"AWS::DynamoDB::Table": {
			"DeletionProtectionEnabled":                                   `{"Fn::If":["IsProd",true,false]}`,
			"PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled": `true`,
			"SSESpecification.SSEEnabled":                                 `true`,
			"TimeToLiveSpecification":                                     `{"AttributeName":"expiresAt","Enabled":true}`,
			"BillingMode":                                                 `"PAY_PER_REQUEST"`,
		},
		"AWS::SQS::Queue":                  {"SqsManagedSseEnabled": `true`},
		"AWS::Logs::LogGroup":              {"RetentionInDays": `{"Ref":"LogRetentionDays"}`},
		"AWS::SNS::Topic":                  {"KmsMasterKeyId": `{"Ref":"AlarmKey"}`},
		"AWS::KMS::Key":                    {"EnableKeyRotation": `true`},
		"AWS::SecretsManager::Secret":      {"GenerateSecretString.PasswordLength": ``},
		"AWS::ApiGateway::DomainName":      {"SecurityPolicy": `"TLS_1_2"`, "EndpointConfiguration.Types": `["REGIONAL"]`},
		"AWS::Serverless::Api":             {"TracingEnabled": `true`, "AlwaysDeploy": `true`},
		"AWS::ApiGateway::BasePathMapping": {"Stage": `{"Ref":"Api.Stage"}`},
	} {
		ids := of(tpl, typ)
		if len(ids) == 0 {
			t.Errorf("no %s is there to look at", typ)
		}
		for _, id := range ids {
			for path, want := range wanted {
				got := At(tpl.Resources[id].Properties, strings.Split(path, ".")...)
				if got == nil || want != "" && !reflect.DeepEqual(got, value(t, want)) {
					t.Errorf("%s: %s is %v, want %s", id, path, got, want)
				}
			}
		}
	}
}

// TestDataOutlivesItsStack: what can't be made again stays when a stack is deleted, and when a resource is replaced.
func TestDataOutlivesItsStack(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	for _, typ := range []string{"AWS::DynamoDB::Table", "AWS::SecretsManager::Secret", "AWS::ApiGateway::Account"} {
		for _, id := range of(tpl, typ) {
			if r := tpl.Resources[id]; r.DeletionPolicy != kept || r.UpdateReplacePolicy != "Retain" {
				t.Errorf("%s: DeletionPolicy %s, UpdateReplacePolicy %s", id, r.DeletionPolicy, r.UpdateReplacePolicy)
			}
		}
	}
	// The account goes on to use its role, whichever stack has made it.
	if r := tpl.Resources["GatewayLogsRole"]; r.DeletionPolicy != kept {
		t.Errorf("GatewayLogsRole goes with its stack, and with it the access logs of the account")
	}
}

// TestAccessLogsRoleIsNoDefault: there is one such role for all gateways of an account in a region, which other stacks may have set, so that
// no environment sets another unless somebody says so. An account takes one only when it has, or had, a gateway.
func TestAccessLogsRoleIsNoDefault(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	if fallback := tpl.Parameters["AccessLog"]["Default"]; fallback != "none" {
		t.Errorf("AccessLog is %v where nothing is said", fallback)
	}
	for _, environment := range []string{"dev", "prod"} {
		if given, is := overrides(t, environment, false)["AccessLog"]; is {
			t.Errorf("samconfig.toml: %s sets AccessLog=%s by itself", environment, given)
		}
	}
	if after := tpl.Resources["GatewayAccount"].DependsOn; after != "Api" {
		t.Errorf("GatewayAccount comes after %v, and in a new account before there is a gateway", after)
	}
}

// names are the properties that name resources, by type; what stands here by another property of the kind is a reference.
var names = map[string]string{
	"AWS::ApiGateway::RestApi": "Name", "AWS::CloudWatch::Alarm": "AlarmName", "AWS::CloudWatch::Dashboard": "DashboardName",
	"AWS::CodeDeploy::Application": "ApplicationName", "AWS::CodeDeploy::DeploymentGroup": "DeploymentGroupName",
	"AWS::DynamoDB::Table": "TableName", "AWS::IAM::Role": "RoleName", "AWS::Lambda::Function": "FunctionName",
	"AWS::Logs::LogGroup": "LogGroupName", "AWS::Logs::MetricFilter": "FilterName", "AWS::SNS::Topic": "TopicName", "AWS::SQS::Queue": "QueueName",
	"AWS::Scheduler::Schedule": "Name", "AWS::SecretsManager::Secret": "Name", "AWS::ApiGateway::DomainName": "DomainName",
	"AWS::Route53::RecordSet": "Name", "AWS::KMS::Alias": "AliasName",
}

// nameless are types whose resources have no name of their own, or one within another's.
var nameless = []string{
	"AWS::ApiGateway::Account", "AWS::ApiGateway::BasePathMapping", "AWS::ApiGateway::Deployment", "AWS::ApiGateway::Stage", "AWS::KMS::Key",
	"AWS::Lambda::Alias", "AWS::Lambda::EventInvokeConfig", "AWS::Lambda::EventSourceMapping", "AWS::Lambda::Permission", "AWS::Lambda::Version",
	"AWS::SNS::Subscription", "AWS::SNS::TopicPolicy",
}

// TestStacksShareAnAccount: no resource has a name that a second stack would want too. CloudFormation makes names of the stack's, and
// where a template gives one it has to have the stack's in it, or be a parameter.
func TestStacksShareAnAccount(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	for id, r := range tpl.Resources {
		property, known := names[r.Type]
		if !known {
			if !slices.Contains(nameless, r.Type) {
				t.Errorf("%s: which property is the name of an %s?", id, r.Type)
			}
			continue
		}
		name := Name(r.Properties[property])
		_, isParameter := tpl.Parameters[name]
		if r.Properties[property] != nil && !strings.Contains(name, "AWS::StackName") && !isParameter {
			t.Errorf("%s: %s is %s in every stack", id, property, name)
		}
	}
	for _, id := range of(tpl, "AWS::Logs::MetricFilter") {
		for _, transformation := range List(tpl.Resources[id].Properties["MetricTransformations"]) {
			if namespace := Name(At(transformation, "MetricNamespace")); namespace != "AWS::StackName" {
				t.Errorf("%s counts in %s, where another stack does, too", id, namespace)
			}
		}
	}
}

// TestAccessLogIsOneObjectALine, which filters can read, and has in it what links a request to the functions' logs and to its trace, but
// nothing that clients keep secret: queries hold codes and states, headers sessions.
func TestAccessLogIsOneObjectALine(t *testing.T) {
	t.Parallel()
	branches := Branches(Source(t).Resources["Api"].Properties["AccessLogSetting"])
	if len(branches) != 1 || Name(At(branches[0], "DestinationArn")) != "GatewayLogs" {
		t.Fatalf("the access log: %v", branches)
	}
	format, _ := At(branches[0], "Format").(string)
	var fields map[string]string
	if err := json.Unmarshal([]byte(format), &fields); err != nil || strings.Contains(format, "\n") {
		t.Fatalf("the access log's format: %v", err)
	}
	for name, variable := range map[string]string{
		"requestId": "$context.requestId", "trace": "$context.xrayTraceId", "status": "$context.status",
		"integrationStatus": "$context.integration.integrationStatus",
	} {
		if fields[name] != variable {
			t.Errorf("%s is %s, want %s", name, fields[name], variable)
		}
	}
	for name, variable := range fields {
		if strings.Contains(variable, "header") || strings.Contains(variable, "query") {
			t.Errorf("%s logs %s", name, variable)
		}
	}
}
