package templatetest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	. "devplatform/infra/templatetest"
)

// unnamed are the permissions whose resource has no name, or not only one, each with its reason.
var unnamed = map[Permission]string{
	"xray:PutTraceSegments *":    "X-Ray has no resources",
	"xray:PutTelemetryRecords *": "X-Ray has no resources",
	"dynamodb:ListStreams *":     "lists them all; Lambda asks before it reads one",
	"cloudwatch:DescribeAlarms arn:AWS::Partition:cloudwatch:AWS::Region:AWS::AccountId:alarm:*":             "lists them all",
	"bedrock:InvokeModel arn:AWS::Partition:bedrock:*::foundation-model/AiFoundationModel":                   "one model; an inference profile chooses the region",
	"bedrock:InvokeModelWithResponseStream arn:AWS::Partition:bedrock:*::foundation-model/AiFoundationModel": "one model; an inference profile chooses the region",
}

// ofServices are the roles that no function has: whose they are, and all that they can do. What is "*" is explained in the template.
var ofServices = map[string]struct {
	service string
	can     []string
}{
	"ScheduleRole": {"scheduler.amazonaws.com", []string{"lambda:InvokeFunction WebhookRetryFunction:live"}},
	"GatewayLogsRole": {"apigateway.amazonaws.com", []string{
		"logs:CreateLogGroup *", "logs:CreateLogStream *", "logs:DescribeLogGroups *", "logs:DescribeLogStreams *", "logs:FilterLogEvents *",
		"logs:GetLogEvents *", "logs:PutLogEvents *",
	}},
	"DeployRole": {"codedeploy.amazonaws.com", nil}, // its own test below
}

// TestNoRoleReachesFurther: every role is a function's or a service's that stands above, is taken by that service alone, and names what
// it is for.
func TestNoRoleReachesFurther(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	owners := map[string]string{}
	for _, role := range tpl.Functions() {
		owners[role] = "lambda.amazonaws.com"
	}
	for role, service := range ofServices {
		owners[role] = service.service
	}
	for _, role := range of(tpl, "AWS::IAM::Role") {
		trust := List(At(tpl.Resources[role].Properties, "AssumeRolePolicyDocument", "Statement"))
		if len(trust) != 1 || Name(At(trust[0], "Principal", "Service")) != owners[role] {
			t.Errorf("%s is taken by %v, want %q", role, trust, owners[role])
		}
		granted := tpl.Granted(t, role)
		if want := ofServices[role].can; want != nil {
			var got []string
			for _, p := range slices.Sorted(maps.Keys(granted)) {
				got = append(got, string(p))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s can %q, want %q", role, got, want)
			}
			continue
		}
		for p := range granted {
			action, resource, _ := strings.Cut(string(p), " ")
			if strings.Contains(action, "*") || strings.Contains(resource, "*") && unnamed[p] == "" {
				t.Errorf("%s can %s", role, p)
			}
		}
	}
	if len(of(tpl, "AWS::IAM::Role")) != len(owners) {
		t.Errorf("roles: %v, want those of %v", of(tpl, "AWS::IAM::Role"), owners)
	}
}

// TestPoliciesStandInRoles: what grants a role something from elsewhere would be seen by none of these tests.
func TestPoliciesStandInRoles(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	for _, typ := range []string{
		"AWS::IAM::Policy", "AWS::IAM::RolePolicy", "AWS::IAM::ManagedPolicy", "AWS::SQS::QueuePolicy", "AWS::SecretsManager::ResourcePolicy",
	} {
		if ids := of(tpl, typ); len(ids) > 0 {
			t.Errorf("%s: %v", typ, ids)
		}
	}
	for id, r := range tpl.Resources {
		if r.Type == "AWS::DynamoDB::Table" && r.Properties["ResourcePolicy"] != nil {
			t.Errorf("%s has a policy of its own", id)
		}
		if r.Type == "AWS::Lambda::Permission" && (r.Properties["Principal"] != "apigateway.amazonaws.com" || !strings.Contains(Name(At(r.Properties, "SourceArn")), "execute-api")) {
			t.Errorf("%s lets %v call", id, r.Properties)
		}
	}
}

// TestDeploymentsShiftEveryFunction: CodeDeploy can do all that shifting takes with every function, and nothing with others.
func TestDeploymentsShiftEveryFunction(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	want := map[Permission]bool{"cloudwatch:DescribeAlarms arn:AWS::Partition:cloudwatch:AWS::Region:AWS::AccountId:alarm:*": true}
	for function := range tpl.Functions() {
		for _, action := range []string{"lambda:GetAlias", "lambda:UpdateAlias", "lambda:GetProvisionedConcurrencyConfig"} {
			want[Permission(action+" "+function)], want[Permission(action+" "+function+":live")] = true, true
		}
		if role := Name(tpl.Resources[function+"DeploymentGroup"].Properties["ServiceRoleArn"]); role != "DeployRole" {
			t.Errorf("%s is deployed by %s", function, role)
		}
	}
	got := tpl.Granted(t, "DeployRole")
	for p := range want {
		if !got[p] {
			t.Errorf("DeployRole can't %s", p)
		}
	}
	for p := range got {
		if !want[p] {
			t.Errorf("DeployRole can %s", p)
		}
	}
}

// TestGrantedSeesEverything tries what a role may come by: by a list, under a condition, from a policy of AWS's; and what no test could
// weigh.
func TestGrantedSeesEverything(t *testing.T) {
	t.Parallel()
	Transformed(t) // the tools are there
	tpl := Parse(t, []byte(`
Resources:
  Role:
    Type: AWS::IAM::Role
    Properties:
      ManagedPolicyArns: [!Sub 'arn:${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaSQSQueueExecutionRole']
      Policies:
        - PolicyName: own
          PolicyDocument:
            Statement:
              - {Effect: Allow, Action: [dynamodb:Scan, dynamodb:Query], Resource: [!GetAtt Table.Arn, !Sub '${Table.Arn}/index/due', !GetAtt Table.StreamArn]}
              - !If [Some, {Effect: Allow, Action: 's3:*', Resource: '*'}, !Ref AWS::NoValue]
        - !If
          - Other
          - {PolicyName: other, PolicyDocument: {Statement: {Effect: Allow, Action: sqs:SendMessage, Resource: !If [Some, !Ref Queue, !Ref Other]}}}
          - !Ref AWS::NoValue
`))
	var got []string
	for _, p := range slices.Sorted(maps.Keys(tpl.Granted(t, "Role"))) {
		got = append(got, string(p))
	}
	want := []string{
		"dynamodb:Query Table", "dynamodb:Query Table/index/due", "dynamodb:Query Table/stream",
		"dynamodb:Scan Table", "dynamodb:Scan Table/index/due", "dynamodb:Scan Table/stream",
		"logs:CreateLogGroup *", "logs:CreateLogStream *", "logs:PutLogEvents *",
		"s3:* *", "sqs:DeleteMessage *", "sqs:GetQueueAttributes *", "sqs:ReceiveMessage *", "sqs:SendMessage Other", "sqs:SendMessage Queue",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
