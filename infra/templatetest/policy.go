package templatetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Permission is an action on a resource of the template, such as "dynamodb:Query WebhooksTable/index/due".
type Permission string

// Statement is one that allows something, of a policy that stands in a role or is attached to it.
type Statement struct {
	Policy            string // its name, or a managed policy's ARN
	Actions           []string
	Resources         []string
	Effect, Sid       string
	Conditioned, Else bool // under a Condition; with NotAction, NotResource or NotPrincipal
}

// Functions are the functions of a transformed template with their roles, both by logical id.
func (tpl *Template) Functions() map[string]string {
	all := map[string]string{}
	for id, resource := range tpl.Resources {
		if resource.Type == "AWS::Lambda::Function" {
			all[id] = Name(resource.Properties["Role"])
		}
	}
	return all
}

// Granted is what a role allows under any conditions, managed policies included. Resources are those of [Name].
func (tpl *Template) Granted(t testing.TB, role string) map[Permission]bool {
	t.Helper()
	granted := map[Permission]bool{}
	for _, s := range tpl.Statements(t, role) {
		switch {
		case s.Else:
			t.Errorf("%s, policy %s: NotAction and NotResource allow what nobody has thought of", role, s.Policy)
		case s.Effect != "Allow":
			continue // takes away, and is not needed where nothing superfluous is given
		}
		for _, action := range s.Actions {
			for _, resource := range s.Resources {
				granted[Permission(action+" "+resource)] = true
			}
		}
	}
	return granted
}

// Statements are those of a role's policies, in it and attached to it.
func (tpl *Template) Statements(t testing.TB, role string) (all []Statement) {
	t.Helper()
	resource, found := tpl.Resources[role]
	if !found || resource.Type != "AWS::IAM::Role" {
		t.Fatalf("%s is no role of this template", role)
	}
	for _, policy := range List(resource.Properties["Policies"]) {
		all = append(all, statements(Name(At(policy, "PolicyName")), At(policy, "PolicyDocument"))...)
	}
	for _, arn := range List(resource.Properties["ManagedPolicyArns"]) {
		all = append(all, managed(t, Name(arn))...)
	}
	return all
}

func statements(policy string, document any) (all []Statement) {
	for _, statement := range List(At(document, "Statement")) {
		fields, _ := statement.(map[string]any)
		s := Statement{Policy: policy, Effect: fmt.Sprint(fields["Effect"]), Sid: fmt.Sprint(fields["Sid"]), Conditioned: fields["Condition"] != nil}
		for _, action := range List(fields["Action"]) {
			s.Actions = append(s.Actions, Name(action))
		}
		for _, resource := range List(fields["Resource"]) {
			s.Resources = append(s.Resources, Name(resource))
		}
		for key := range fields {
			s.Else = s.Else || strings.HasPrefix(key, "Not")
		}
		all = append(all, s)
	}
	return all
}

// managed is what one of AWS's managed policies says.
func managed(t testing.TB, arn string) []Statement {
	t.Helper()
	out, err := python("managed_policy.py", arn[strings.LastIndex(arn, "/")+1:])
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(out, &document); err != nil {
		t.Fatal(err)
	}
	return statements(arn, document)
}

// NeededByLambda is what Lambda itself does in the name of a function's role: it writes the log and the traces, reads streams and
// queues, and sends what was given up to its destination.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-intro-execution-role.html
func (tpl *Template) NeededByLambda(function string) map[Permission]bool {
	needed := map[Permission]bool{}
	need := func(resource string, actions ...string) {
		for _, action := range actions {
			needed[Permission(action+" "+resource)] = true
		}
	}
	properties := tpl.Resources[function].Properties
	need(Name(At(properties, "LoggingConfig", "LogGroup")), "logs:CreateLogStream", "logs:PutLogEvents")
	if At(properties, "TracingConfig", "Mode") == "Active" {
		need("*", "xray:PutTraceSegments", "xray:PutTelemetryRecords")
	}
	for _, mapping := range tpl.Resources {
		if mapping.Type != "AWS::Lambda::EventSourceMapping" || !strings.HasPrefix(Name(mapping.Properties["FunctionName"]), function+"Alias") {
			continue
		}
		source := Name(mapping.Properties["EventSourceArn"])
		if strings.HasSuffix(source, "/stream") {
			need(source, "dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator")
			need("*", "dynamodb:ListStreams")
		} else {
			need(source, "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
		}
		if destination := At(mapping.Properties, "DestinationConfig", "OnFailure", "Destination"); destination != nil {
			need(Name(destination), "sqs:SendMessage")
		}
	}
	return needed
}
