package templatetest_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	. "devplatform/infra/templatetest"
)

const (
	allAlarms  = "arn:AWS::Partition:cloudwatch:AWS::Region:AWS::AccountId:alarm:*"
	oneModel   = "arn:AWS::Partition:bedrock:*::foundation-model/AiFoundationModel"
	contents   = "FilesBucket/contents/*"
	exports    = "FilesBucket/exports/"
	sites      = "FilesBucket/sites/*"
	identities = "arn:AWS::Partition:ses:AWS::Region:AWS::AccountId:identity/*"
	packages   = "FilesBucket/packages/*"

	deployments = "arn:AWS::Partition:codedeploy:AWS::Region:AWS::AccountId:deploymentgroup:" +
		"AWS::StackName-ServerlessDeploymentApplication-*/*"
)

// wildcards lists the permissions whose resource may contain a wildcard. The values are the reasons.
var wildcards = map[Permission]string{
	"xray:PutTraceSegments *":    "X-Ray has no resources",
	"xray:PutTelemetryRecords *": "X-Ray has no resources",
	"dynamodb:ListStreams *":     "the action has no resource; Lambda calls it before it reads a stream",

	"cloudwatch:DescribeAlarms " + allAlarms:            "the action lists all alarms",
	"bedrock:InvokeModelWithResponseStream " + oneModel: "one model in all regions of the inference profile",

	"s3:GetObject " + contents:    "all objects under one prefix",
	"s3:PutObject " + contents:    "all objects under one prefix",
	"s3:DeleteObject " + contents: "all objects under one prefix",

	"s3:GetObject " + exports + "prj_*":    "all objects under one prefix",
	"s3:PutObject " + exports + "prj_*":    "all objects under one prefix",
	"s3:GetObject " + exports + "usr_*":    "all objects under one prefix",
	"s3:PutObject " + exports + "usr_*":    "all objects under one prefix",
	"s3:DeleteObject " + exports + "prj_*": "all objects under one prefix",
	"s3:DeleteObject " + exports + "usr_*": "all objects under one prefix",

	"s3:GetObject " + sites:    "all objects under one prefix",
	"s3:PutObject " + sites:    "all objects under one prefix",
	"s3:DeleteObject " + sites: "all objects under one prefix",

	"s3:GetObject " + packages:    "all objects under one prefix",
	"s3:PutObject " + packages:    "all objects under one prefix",
	"s3:DeleteObject " + packages: "all objects under one prefix",

	"ses:SendEmail " + identities:       "the identity is the address or its domain; a condition allows only the address",
	"ses:DeleteSuppressedDestination *": "the suppression list has no resources",

	"codedeploy:GetDeployment " + deployments:                        "the end of the name is random",
	"codedeploy:PutLifecycleEventHookExecutionStatus " + deployments: "the end of the name is random",
}

// invokesVersions reports whether a permission allows deploy-check to invoke all versions of a function. The number
// of a new version is not known before the deployment.
func invokesVersions(role, action, resource string) bool {
	return role == "DeployCheckRole" && action == "lambda:InvokeFunction" && strings.HasSuffix(resource, "Function:*")
}

// serviceRoles lists the roles that AWS services other than Lambda assume, with all of their permissions. Comments in
// the template explain the wildcards.
var serviceRoles = map[string]struct {
	service     string
	permissions []string
}{
	"ScheduleRole": {
		service: "scheduler.amazonaws.com",
		permissions: []string{
			"lambda:InvokeFunction DeployCheckFunction", "lambda:InvokeFunction JobsFunction:live",
			"lambda:InvokeFunction ProjectCleanupFunction:live", "lambda:InvokeFunction WebhookRetryFunction:live",
		},
	},
	"GatewayLogsRole": {
		service: "apigateway.amazonaws.com",
		permissions: []string{
			"logs:CreateLogGroup *", "logs:CreateLogStream *", "logs:DescribeLogGroups *", "logs:DescribeLogStreams *",
			"logs:FilterLogEvents *", "logs:GetLogEvents *", "logs:PutLogEvents *",
		},
	},
	"DeployRole": {service: "codedeploy.amazonaws.com"}, // TestDeployRolePermissions checks its permissions
}

// TestRolesHaveLeastPrivilege checks that every role belongs to a function, to operators, or is listed in serviceRoles,
// that only its service can assume it, and that its permissions have no wildcards except those in wildcards.
func TestRolesHaveLeastPrivilege(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	owners := map[string]string{}
	for _, role := range tpl.Functions() {
		owners[role] = "lambda.amazonaws.com"
	}
	for role, expected := range serviceRoles {
		owners[role] = expected.service
	}
	owners[operatorRole] = "people" // see TestOperatorRole
	for _, role := range resourcesOf(tpl, "AWS::IAM::Role") {
		trust := List(At(tpl.Resources[role].Properties, "AssumeRolePolicyDocument", "Statement"))
		if len(trust) != 1 || role != operatorRole && Name(At(trust[0], "Principal", "Service")) != owners[role] {
			t.Errorf("%s: got the trust policy %v, want only %q", role, trust, owners[role])
		}
		granted := tpl.Granted(t, role)
		if want := serviceRoles[role].permissions; want != nil {
			var got []string
			for _, p := range slices.Sorted(maps.Keys(granted)) {
				got = append(got, string(p))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: got the permissions %q, want %q", role, got, want)
			}
			continue
		}
		for p := range granted {
			action, resource, _ := strings.Cut(string(p), " ")
			if strings.Contains(action, "*") || strings.Contains(resource, "*") && wildcards[p] == "" &&
				!invokesVersions(role, action, resource) {
				t.Errorf("%s: the permission %s has a wildcard without a reason", role, p)
			}
		}
	}
	if roles := resourcesOf(tpl, "AWS::IAM::Role"); len(roles) != len(owners) {
		t.Errorf("got the roles %v, want the roles of %v", roles, owners)
	}
}

// TestPermissionsAreOnlyInRoles checks that the template grants permissions only in roles. The other tests do not find
// permissions in separate policies or in policies of resources.
func TestPermissionsAreOnlyInRoles(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	for _, typ := range []string{
		"AWS::IAM::Policy", "AWS::IAM::RolePolicy", "AWS::IAM::ManagedPolicy",
		"AWS::SecretsManager::ResourcePolicy", "AWS::S3::BucketPolicy",
	} {
		if ids := resourcesOf(tpl, typ); len(ids) > 0 {
			t.Errorf("the template has resources of the type %s: %v", typ, ids)
		}
	}
	for id, r := range tpl.Resources {
		if r.Type == "AWS::DynamoDB::Table" && r.Properties["ResourcePolicy"] != nil {
			t.Errorf("the table %s has a resource policy", id)
		}
		if r.Type != "AWS::Lambda::Permission" {
			continue
		}
		source := Name(At(r.Properties, "SourceArn"))
		if r.Properties["Principal"] != "apigateway.amazonaws.com" || !strings.Contains(source, "execute-api") {
			t.Errorf("%s allows calls by %v from %s, want only calls by the gateway", id, r.Properties["Principal"], source)
		}
	}
}

// TestQueuePolicies checks that only the rule of the events of SES can send messages to the queue of these events, and
// that no other queue has a policy.
func TestQueuePolicies(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	if ids := resourcesOf(tpl, "AWS::SQS::QueuePolicy"); !slices.Equal(ids, []string{"MailEventsQueuePolicy"}) {
		t.Fatalf("got the policies %v, want one", ids)
	}
	p := tpl.Resources["MailEventsQueuePolicy"].Properties
	statements := List(At(p, "PolicyDocument", "Statement"))
	if len(statements) != 1 || Name(List(p["Queues"])[0]) != "MailEventsQueue" {
		t.Fatalf("got the policy %v", p)
	}
	s := statements[0]
	if At(s, "Principal", "Service") != "events.amazonaws.com" || At(s, "Action") != "sqs:SendMessage" ||
		Name(At(s, "Condition", "ArnEquals", "aws:SourceArn")) != "MailEventsRule" ||
		Name(At(s, "Resource")) != "MailEventsQueue" {
		t.Errorf("got the statement %v, want only messages of the rule", s)
	}
}

// TestMailerRole checks that the function that sends mails can read and change only the states of addresses and its
// counter, and that it can send mails only from the address of the service.
func TestMailerRole(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	var got []string
	for _, p := range slices.Sorted(maps.Keys(tpl.Granted(t, "MailerRole"))) {
		if action, _, _ := strings.Cut(string(p), ":"); action == "ses" ||
			action == "dynamodb" && !strings.Contains(string(p), "Stream") && !strings.Contains(string(p), "Records") &&
				!strings.Contains(string(p), "Shard") {
			got = append(got, string(p))
		}
	}
	want := []string{
		"dynamodb:GetItem AccountsTable", "dynamodb:UpdateItem AccountsTable", "dynamodb:UpdateItem MailTable",
		"ses:DeleteSuppressedDestination *",
		"ses:SendEmail arn:AWS::Partition:ses:AWS::Region:AWS::AccountId:configuration-set/AWS::StackName-mail",
		"ses:SendEmail " + identities,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got the permissions %q, want %q", got, want)
	}
	for _, s := range tpl.Statements(t, "MailerRole") {
		if isLimited := slices.Contains(s.Actions, "ses:SendEmail") || slices.Contains(s.Resources, "AccountsTable"); isLimited &&
			!s.HasCondition {
			t.Errorf("the statement %+v has no condition", s)
		}
	}
}

// TestSitesRole checks that the function that serves sites can read nothing but addresses, workspaces and the output of
// deployments, and that it can change nothing but its counters of traffic.
func TestSitesRole(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	var got []string
	for _, p := range slices.Sorted(maps.Keys(tpl.Granted(t, "SitesRole"))) {
		if action, _, _ := strings.Cut(string(p), ":"); action == "dynamodb" || action == "s3" {
			got = append(got, string(p))
		}
	}
	want := []string{
		"dynamodb:BatchGetItem SitesTable", "dynamodb:GetItem ProjectsTable", "dynamodb:GetItem SitesTable",
		"dynamodb:UpdateItem SitesTable", "s3:GetObject " + sites,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got the permissions %q, want %q", got, want)
	}
	for _, s := range tpl.Statements(t, "SitesRole") {
		isLimited := slices.Contains(s.Actions, "dynamodb:UpdateItem") || slices.Contains(s.Resources, "ProjectsTable")
		if isLimited && !s.HasCondition {
			t.Errorf("the statement %+v has no condition on the keys of the items", s)
		}
	}
}

const operatorRole = "OperatorRole"

// TestOperatorRole checks that people of the account can assume the role of operators, that the role can only add audit
// records, below a key with the identity of the caller and in the transaction of an act, and that it can add no item to
// the table with the audit records in another way. No other role can use the table.
func TestOperatorRole(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	const role, table = operatorRole, auditTable
	trust := List(At(tpl.Resources[role].Properties, "AssumeRolePolicyDocument", "Statement"))
	if principal := Name(At(trust[0], "Principal", "AWS")); !strings.HasSuffix(principal, ":root") {
		t.Errorf("got the principal %s, want the account", principal)
	}
	var got []string
	for _, s := range tpl.Statements(t, role) {
		if !slices.ContainsFunc(s.Resources, func(r string) bool { return strings.HasPrefix(r, table) }) {
			continue
		}
		for _, action := range s.Actions {
			got = append(got, action+" "+strings.Join(s.Resources, " "))
		}
		if s.Actions[0] == "dynamodb:PutItem" && !slices.Equal(s.LeadingKeys, []string{"OPERATOR#${aws:userid}"}) {
			t.Errorf("an operator can put items below the keys %q", s.LeadingKeys)
		}
	}
	want := []string{"dynamodb:PutItem AuditTable", "dynamodb:Query AuditTable/index/target"}
	if !slices.Equal(got, want) {
		t.Errorf("got the permissions %q for the audit records, want %q", got, want)
	}
	text, err := json.Marshal(tpl.Resources[role].Properties)
	if err != nil || !strings.Contains(string(text), `"ForAnyValue:StringEquals":{"dynamodb:EnclosingOperation":["TransactWriteItems"]}`) {
		t.Errorf("an audit record can be put without a transaction: %s, %v", text, err)
	}
	for _, other := range resourcesOf(tpl, "AWS::IAM::Role") {
		for p := range tpl.Granted(t, other) {
			if other != role && strings.Contains(string(p), table) {
				t.Errorf("%s has the permission %s", other, p)
			}
		}
	}
}

// TestDeployRolePermissions checks that CodeDeploy can shift the traffic of every function, and has no other
// permissions.
func TestDeployRolePermissions(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	want := map[Permission]bool{
		"cloudwatch:DescribeAlarms " + allAlarms: true,
		"lambda:InvokeFunction " + deployCheck:   true,
	}
	for function := range tpl.Functions() {
		if function == deployCheck {
			continue
		}
		for _, action := range []string{"lambda:GetAlias", "lambda:UpdateAlias", "lambda:GetProvisionedConcurrencyConfig"} {
			want[Permission(action+" "+function)] = true
			want[Permission(action+" "+function+":live")] = true
		}
		if role := Name(tpl.Resources[function+"DeploymentGroup"].Properties["ServiceRoleArn"]); role != "DeployRole" {
			t.Errorf("%s: got the deployment role %s, want DeployRole", function, role)
		}
	}
	got := tpl.Granted(t, "DeployRole")
	for p := range want {
		if !got[p] {
			t.Errorf("DeployRole does not have the permission %s", p)
		}
	}
	for p := range got {
		if !want[p] {
			t.Errorf("DeployRole has the superfluous permission %s", p)
		}
	}
}

// TestGranted checks that Granted finds permissions in lists, under conditions and in AWS managed policies.
func TestGranted(t *testing.T) {
	t.Parallel()
	Transformed(t) // skips the test if the tools are not installed
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
              - Effect: Allow
                Action: [dynamodb:Scan, dynamodb:Query]
                Resource: [!GetAtt Table.Arn, !Sub '${Table.Arn}/index/due', !GetAtt Table.StreamArn]
              - !If [Some, {Effect: Allow, Action: 's3:*', Resource: '*'}, !Ref AWS::NoValue]
        - !If
          - Other
          - PolicyName: other
            PolicyDocument:
              Statement: {Effect: Allow, Action: sqs:SendMessage, Resource: !If [Some, !Ref Queue, !Ref Other]}
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
		"s3:* *",
		"sqs:DeleteMessage *", "sqs:GetQueueAttributes *", "sqs:ReceiveMessage *",
		"sqs:SendMessage Other", "sqs:SendMessage Queue",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got the permissions\n%q\nwant\n%q", got, want)
	}
}
