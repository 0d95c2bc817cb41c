package templatetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Permission is an action on a resource of the template, such as "dynamodb:Query WebhooksTable/index/due".
type Permission string

// Statement is a statement of an inline or attached policy of a role.
type Statement struct {
	Policy       string // the name of the inline policy, or the ARN of the managed policy
	Actions      []string
	Resources    []string
	Effect, Sid  string
	HasCondition bool // whether it has a Condition
	// LeadingKeys are the patterns of the partition keys, and Attributes the names of the attributes, to which the
	// condition of a statement for DynamoDB limits it. They are nil if the condition does not limit them.
	LeadingKeys, Attributes []string
	HasNotElements          bool // whether it has NotAction, NotResource or NotPrincipal
}

// Functions returns the roles of the functions in a transformed template. Keys and values are logical IDs.
func (tpl *Template) Functions() map[string]string {
	roles := map[string]string{}
	for id, resource := range tpl.Resources {
		if resource.Type == "AWS::Lambda::Function" {
			roles[id] = Name(resource.Properties["Role"])
		}
	}
	return roles
}

// Granted returns the permissions that a role can have, including permissions of managed policies. It ignores
// conditions: it includes both branches of every Fn::If, and statements with a Condition. The resources have the form
// that [Name] returns.
func (tpl *Template) Granted(t testing.TB, role string) map[Permission]bool {
	t.Helper()
	granted := map[Permission]bool{}
	for _, s := range tpl.Statements(t, role) {
		switch {
		case s.HasNotElements:
			t.Errorf("%s, policy %s: NotAction, NotResource and NotPrincipal are not allowed", role, s.Policy)
		case s.Effect != "Allow":
			continue
		}
		for _, action := range s.Actions {
			for _, resource := range s.Resources {
				granted[Permission(action+" "+resource)] = true
			}
		}
	}
	return granted
}

// Statements returns the statements of all inline and attached policies of a role.
func (tpl *Template) Statements(t testing.TB, role string) (all []Statement) {
	t.Helper()
	resource, found := tpl.Resources[role]
	if !found || resource.Type != "AWS::IAM::Role" {
		t.Fatalf("the template has no role %s", role)
	}
	for _, policy := range List(resource.Properties["Policies"]) {
		all = append(all, parseStatements(Name(At(policy, "PolicyName")), At(policy, "PolicyDocument"))...)
	}
	for _, arn := range List(resource.Properties["ManagedPolicyArns"]) {
		all = append(all, managedStatements(t, Name(arn))...)
	}
	return all
}

// parseStatements returns the statements of a policy document.
func parseStatements(policy string, document any) (all []Statement) {
	for _, statement := range List(At(document, "Statement")) {
		fields, _ := statement.(map[string]any)
		s := Statement{
			Policy: policy, Effect: fmt.Sprint(fields["Effect"]), Sid: fmt.Sprint(fields["Sid"]),
			HasCondition: fields["Condition"] != nil,
			LeadingKeys:  conditionValues(fields, "ForAllValues:StringLike", "dynamodb:LeadingKeys"),
			Attributes:   conditionValues(fields, "ForAllValues:StringEquals", "dynamodb:Attributes"),
		}
		for _, action := range List(fields["Action"]) {
			s.Actions = append(s.Actions, Name(action))
		}
		for _, resource := range List(fields["Resource"]) {
			s.Resources = append(s.Resources, Name(resource))
		}
		for key := range fields {
			s.HasNotElements = s.HasNotElements || strings.HasPrefix(key, "Not")
		}
		all = append(all, s)
	}
	return all
}

// conditionValues returns the values of a key in the condition of a statement, or nil if there is no such condition.
func conditionValues(statement map[string]any, operator, key string) (values []string) {
	for _, value := range List(At(statement, "Condition", operator, key)) {
		values = append(values, Name(value))
	}
	return values
}

// Allows reports whether the statement allows an action of DynamoDB on the item with a partition key, if the action
// reads or writes the given attributes. It assumes that the statement contains the action and the table.
func (s Statement) Allows(partitionKey string, attributes []string) bool {
	allowedKey := s.LeadingKeys == nil || slices.ContainsFunc(s.LeadingKeys, func(pattern string) bool {
		return MatchesKey(pattern, partitionKey)
	})
	return allowedKey && (s.Attributes == nil || !slices.ContainsFunc(attributes, func(name string) bool {
		return !slices.Contains(s.Attributes, name)
	}))
}

// MatchesKey reports whether a partition key matches a pattern in LeadingKeys. A * at the end of a pattern stands for
// any text.
func MatchesKey(pattern, partitionKey string) bool {
	prefix, isPrefix := strings.CutSuffix(pattern, "*")
	return partitionKey == pattern || isPrefix && strings.HasPrefix(partitionKey, prefix)
}

// managedStatements returns the statements of an AWS managed policy.
func managedStatements(t testing.TB, arn string) []Statement {
	t.Helper()
	out, err := python("managed_policy.py", arn[strings.LastIndex(arn, "/")+1:])
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(out, &document); err != nil {
		t.Fatal(err)
	}
	return parseStatements(arn, document)
}

// NeededByLambda returns the permissions that the Lambda service itself needs in a function's role. Lambda writes the
// log and the traces, reads streams and queues, and sends failed records to the on-failure destination.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-intro-execution-role.html
func (tpl *Template) NeededByLambda(function string) map[Permission]bool {
	needed := map[Permission]bool{}
	add := func(resource string, actions ...string) {
		for _, action := range actions {
			needed[Permission(action+" "+resource)] = true
		}
	}
	properties := tpl.Resources[function].Properties
	add(Name(At(properties, "LoggingConfig", "LogGroup")), "logs:CreateLogStream", "logs:PutLogEvents")
	if At(properties, "TracingConfig", "Mode") == "Active" {
		add("*", "xray:PutTraceSegments", "xray:PutTelemetryRecords")
	}
	for _, mapping := range tpl.Resources {
		target := Name(mapping.Properties["FunctionName"])
		if mapping.Type != "AWS::Lambda::EventSourceMapping" || !strings.HasPrefix(target, function+"Alias") {
			continue
		}
		source := Name(mapping.Properties["EventSourceArn"])
		if strings.HasSuffix(source, "/stream") {
			add(source, "dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator")
			add("*", "dynamodb:ListStreams")
		} else {
			add(source, "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
		}
		if destination := At(mapping.Properties, "DestinationConfig", "OnFailure", "Destination"); destination != nil {
			add(Name(destination), "sqs:SendMessage")
		}
	}
	return needed
}
