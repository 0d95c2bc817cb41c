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

// resourcesOf returns the sorted logical IDs of the resources of a type.
func resourcesOf(tpl *Template, typ string) (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(tpl.Resources)) {
		if tpl.Resources[id].Type == typ {
			ids = append(ids, id)
		}
	}
	return ids
}

// parseJSON returns the value that a JSON text encodes.
func parseJSON(t *testing.T, text string) any {
	t.Helper()
	var parsed any
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

const retain = "RetainExceptOnCreate"

// TestRequiredProperties checks the properties that every resource of a type must have, mostly for security and for the
// protection of data.
func TestRequiredProperties(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	// The map contains the JSON of each property by type and path. "" allows any value.
	for typ, properties := range map[string]map[string]string{
		"AWS::DynamoDB::Table": {
			"DeletionProtectionEnabled":                                   `{"Fn::If":["IsProd",true,false]}`,
			"PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled": `true`,
			"SSESpecification.SSEEnabled":                                 `true`,
			"TimeToLiveSpecification":                                     `{"AttributeName":"expiresAt","Enabled":true}`,
			"BillingMode":                                                 `"PAY_PER_REQUEST"`,
		},
		"AWS::S3::Bucket": {
			"BucketEncryption": `{"ServerSideEncryptionConfiguration":
				[{"ServerSideEncryptionByDefault":{"SSEAlgorithm":"AES256"}}]}`,
			"PublicAccessBlockConfiguration": `{"BlockPublicAcls":true,"BlockPublicPolicy":true,
				"IgnorePublicAcls":true,"RestrictPublicBuckets":true}`,
			"OwnershipControls":       `{"Rules":[{"ObjectOwnership":"BucketOwnerEnforced"}]}`,
			"VersioningConfiguration": `{"Status":"Enabled"}`,
			"LifecycleConfiguration.Rules": `[{"Id":"deleted-objects","Status":"Enabled",
				"NoncurrentVersionExpiration":{"NoncurrentDays":35},"ExpiredObjectDeleteMarker":true},
				{"Id":"exports","Status":"Enabled","Prefix":"exports/","ExpirationInDays":1,
				"NoncurrentVersionExpiration":{"NoncurrentDays":1}},
				{"Id":"packages","Status":"Enabled","Prefix":"packages/","ExpirationInDays":30,
				"NoncurrentVersionExpiration":{"NoncurrentDays":1}}]`,
		},
		"AWS::SQS::Queue":     {"SqsManagedSseEnabled": `true`},
		"AWS::Logs::LogGroup": {"RetentionInDays": `{"Ref":"LogRetentionDays"}`},
		// A topic without a recipient needs no key.
		"AWS::SNS::Topic":             {"KmsMasterKeyId": `{"Fn::If":["MailsAlarms",{"Ref":"AlarmKey"},{"Ref":"AWS::NoValue"}]}`},
		"AWS::KMS::Key":               {"EnableKeyRotation": `true`},
		"AWS::SecretsManager::Secret": {"GenerateSecretString.PasswordLength": ``},
		"AWS::ApiGateway::DomainName": {"SecurityPolicy": `"TLS_1_2"`, "EndpointConfiguration.Types": `["REGIONAL"]`},
		"AWS::Serverless::Api":        {"TracingEnabled": `true`, "AlwaysDeploy": `true`},
	} {
		ids := resourcesOf(tpl, typ)
		if len(ids) == 0 {
			t.Errorf("the template has no resource of the type %s", typ)
		}
		for _, id := range ids {
			for path, want := range properties {
				got := At(tpl.Resources[id].Properties, strings.Split(path, ".")...)
				if got == nil || want != "" && !reflect.DeepEqual(got, parseJSON(t, want)) {
					t.Errorf("%s: got %v for the property %s, want %s", id, got, path, want)
				}
			}
		}
	}
}

// TestDomains checks that each API has its own domain, without the stage in the path, and that sites are never
// reachable at the gateway's own domain.
func TestDomains(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	domains := map[string]string{}
	for _, id := range resourcesOf(tpl, "AWS::ApiGateway::BasePathMapping") {
		p := tpl.Resources[id].Properties
		api := Name(p["RestApiId"])
		domains[api] = Name(tpl.Resources[Name(p["DomainName"])].Properties["DomainName"])
		if Name(p["Stage"]) != api+".Stage" || p["BasePath"] != nil {
			t.Errorf("%s: got the stage %v and the base path %v, want the stage of %s and no path", id, p["Stage"], p["BasePath"], api)
		}
	}
	if want := map[string]string{"Api": "DomainName", "SitesApi": "*.SitesDomain"}; !maps.Equal(domains, want) {
		t.Errorf("got the domains %v, want %v", domains, want)
	}
	if disabled := tpl.Resources["SitesApi"].Properties["DisableExecuteApiEndpoint"]; disabled != true {
		t.Errorf("SitesApi: got %v for DisableExecuteApiEndpoint, want true", disabled)
	}
}

// TestDataIsRetained checks that tables, buckets, secrets and the gateway account are retained when the stack is
// deleted, and when the resource is replaced.
func TestDataIsRetained(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	for _, typ := range []string{
		"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SecretsManager::Secret", "AWS::ApiGateway::Account",
	} {
		for _, id := range resourcesOf(tpl, typ) {
			if r := tpl.Resources[id]; r.DeletionPolicy != retain || r.UpdateReplacePolicy != "Retain" {
				t.Errorf("%s: got DeletionPolicy %s and UpdateReplacePolicy %s, want %s and Retain",
					id, r.DeletionPolicy, r.UpdateReplacePolicy, retain)
			}
		}
	}
	// The gateway account still uses the role after the stack that created it is deleted.
	if r := tpl.Resources["GatewayLogsRole"]; r.DeletionPolicy != retain {
		t.Errorf("GatewayLogsRole: got DeletionPolicy %s, want %s, so that access logs continue", r.DeletionPolicy, retain)
	}
}

// TestAccessLogIsOptIn checks that access logs are disabled by default. All gateways of an account and region share one
// role for logging, so a stack must not replace a role that another stack has set.
func TestAccessLogIsOptIn(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	if fallback := tpl.Parameters["AccessLog"]["Default"]; fallback != "none" {
		t.Errorf("got the default %v for the parameter AccessLog, want none", fallback)
	}
	for _, environment := range []string{"dev", "prod"} {
		if value, isSet := overrides(t, environment, false)["AccessLog"]; isSet {
			t.Errorf("samconfig.toml, %s: sets AccessLog=%s, want the default", environment, value)
		}
	}
	// A new AWS account accepts the role only after the account's first gateway was created.
	if dependency := tpl.Resources["GatewayAccount"].DependsOn; dependency != "Api" {
		t.Errorf("GatewayAccount depends on %v, want Api", dependency)
	}
}

// nameProperties maps each type to the property that contains the name of a resource.
var nameProperties = map[string]string{
	"AWS::ApiGateway::DomainName":      "DomainName",
	"AWS::ApiGateway::RestApi":         "Name",
	"AWS::CloudWatch::Alarm":           "AlarmName",
	"AWS::CloudWatch::CompositeAlarm":  "AlarmName",
	"AWS::CloudWatch::Dashboard":       "DashboardName",
	"AWS::CodeDeploy::Application":     "ApplicationName",
	"AWS::CodeDeploy::DeploymentGroup": "DeploymentGroupName",
	"AWS::DynamoDB::Table":             "TableName",
	"AWS::Events::Rule":                "Name",
	"AWS::IAM::Role":                   "RoleName",
	"AWS::KMS::Alias":                  "AliasName",
	"AWS::Lambda::Function":            "FunctionName",
	"AWS::Logs::LogGroup":              "LogGroupName",
	"AWS::Logs::MetricFilter":          "FilterName",
	"AWS::Route53::RecordSet":          "Name",
	"AWS::S3::Bucket":                  "BucketName",
	"AWS::SES::ConfigurationSet":       "Name",
	"AWS::SNS::Topic":                  "TopicName",
	"AWS::SQS::Queue":                  "QueueName",
	"AWS::Scheduler::Schedule":         "Name",
	"AWS::SecretsManager::Secret":      "Name",
}

// unnamedTypes lists the types whose resources have no name, or a name that must be unique only within another
// resource.
var unnamedTypes = []string{
	"AWS::ApiGateway::Account", "AWS::ApiGateway::BasePathMapping", "AWS::ApiGateway::Deployment",
	"AWS::ApiGateway::Stage", "AWS::Budgets::Budget", "AWS::KMS::Key", "AWS::Lambda::Alias", "AWS::Lambda::EventInvokeConfig",
	"AWS::Lambda::EventSourceMapping", "AWS::Lambda::Permission", "AWS::Lambda::Version",
	"AWS::SES::ConfigurationSetEventDestination", "AWS::SNS::Subscription", "AWS::SNS::TopicPolicy", "AWS::SQS::QueuePolicy",
	"AWS::WAFv2::WebACLAssociation",
}

// TestStacksShareAnAccount checks that two stacks can exist in one account: no resource has a fixed name. Either
// CloudFormation generates the name, or it contains the name of the stack, or it is a parameter.
func TestStacksShareAnAccount(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	for id, r := range tpl.Resources {
		property, known := nameProperties[r.Type]
		if !known {
			if !slices.Contains(unnamedTypes, r.Type) {
				t.Errorf("%s: add the type %s to nameProperties or unnamedTypes", id, r.Type)
			}
			continue
		}
		name := Name(r.Properties[property])
		_, isParameter := tpl.Parameters[strings.TrimPrefix(name, "*.")]
		if r.Properties[property] != nil && !strings.Contains(name, "AWS::StackName") && !isParameter {
			t.Errorf("%s: the %s %s would be the same in every stack", id, property, name)
		}
	}
	for _, id := range resourcesOf(tpl, "AWS::Logs::MetricFilter") {
		for _, transformation := range List(tpl.Resources[id].Properties["MetricTransformations"]) {
			if namespace := Name(At(transformation, "MetricNamespace")); namespace != "AWS::StackName" {
				t.Errorf("%s: got the namespace %s, want the name of the stack", id, namespace)
			}
		}
	}
}

// TestAccessLogFormat checks that the access log has one JSON object per line, with the IDs that link a request to the
// functions' logs and to its trace. It must not contain headers or query strings, because these can contain secrets.
func TestAccessLogFormat(t *testing.T) {
	t.Parallel()
	for api, logs := range map[string]string{"Api": "GatewayLogs", "SitesApi": "SitesGatewayLogs"} {
		branches := Branches(Source(t).Resources[api].Properties["AccessLogSetting"])
		if len(branches) != 1 || Name(At(branches[0], "DestinationArn")) != logs {
			t.Fatalf("%s: got the access log settings %v, want one with the log group %s", api, branches, logs)
		}
		format, _ := At(branches[0], "Format").(string)
		var fields map[string]string
		if err := json.Unmarshal([]byte(format), &fields); err != nil || strings.Contains(format, "\n") {
			t.Fatalf("%s: the format %s is not a JSON object in one line (error %v)", api, format, err)
		}
		for name, variable := range map[string]string{
			"requestId": "$context.requestId", "trace": "$context.xrayTraceId", "status": "$context.status",
			"integrationStatus": "$context.integration.integrationStatus",
		} {
			if fields[name] != variable {
				t.Errorf("%s: got %s for the field %s, want %s", api, fields[name], name, variable)
			}
		}
		for name, variable := range fields {
			if strings.Contains(variable, "header") || strings.Contains(variable, "query") {
				t.Errorf("%s: the field %s logs %s, which can contain a secret", api, name, variable)
			}
		}
	}
}
