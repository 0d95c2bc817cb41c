package stack_test

import (
	"testing"

	"devplatform/infra/local/stack"
)

// A function gets the name of a configuration set of SES. The reports of SES have no effect.
func TestConfigurationSet(t *testing.T) {
	t.Parallel()
	const template = `Transform: AWS::Serverless-2016-10-31
Globals: {Function: {CodeUri: f, Handler: bootstrap, Runtime: provided.al2023}}
Resources:
  Mails: {Type: AWS::SES::ConfigurationSet, Properties: {ReputationOptions: {ReputationMetricsEnabled: true}}}
  Sender: {Type: AWS::SES::EmailIdentity, Properties: {EmailIdentity: example.com}}
  Events: {Type: AWS::Events::Rule, Properties: {EventPattern: {source: [aws.ses]}}}
  Reports:
    Type: AWS::SES::ConfigurationSetEventDestination
    Properties: {ConfigurationSetName: !Ref Mails, EventDestination: {Enabled: true, MatchingEventTypes: [BOUNCE]}}
  Mailer: {Type: AWS::Serverless::Function, Properties: {Environment: {Variables: {SET: !Ref Mails}}}}
`
	loaded, err := stack.Parse("template.yaml", []byte(template), stack.Options{StackName: "local"})
	if err != nil {
		t.Fatal(err)
	}
	if got := loaded.Functions[0].Env["SET"]; got != "local-Mails" {
		t.Errorf("got the name %q, want local-Mails", got)
	}
}
