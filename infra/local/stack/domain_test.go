package stack_test

import (
	"slices"
	"testing"

	"devplatform/infra/local/stack"
)

// TestDomains checks that an API has the custom domains whose mappings exist under the conditions.
func TestDomains(t *testing.T) {
	t.Parallel()
	const template = `Transform: AWS::Serverless-2016-10-31
Parameters: {Domain: {Type: String, Default: example.app}}
Conditions: {HasDomain: !Not [!Equals [!Ref Domain, '']]}
Resources:
  A: {Type: AWS::Serverless::Api, Properties: {StageName: dev}}
  B: {Type: AWS::Serverless::Api, Condition: HasDomain, Properties: {StageName: dev}}
  Name: {Type: AWS::ApiGateway::DomainName, Condition: HasDomain, Properties: {DomainName: !Sub '*.${Domain}'}}
  Other:
    Type: AWS::ApiGateway::BasePathMapping
    Properties: {DomainName: !ImportValue elsewhere, RestApiId: !Ref A}
  Foreign:
    Type: AWS::ApiGateway::BasePathMapping
    Properties: {DomainName: example.com, RestApiId: abcdefghij}
  Literal:
    Type: AWS::ApiGateway::BasePathMapping
    Properties: {DomainName: api.example.com, RestApiId: !Ref A, Stage: !Ref A.Stage, BasePath: v1}
  Wildcard:
    Type: AWS::ApiGateway::BasePathMapping
    Condition: HasDomain
    Properties: {DomainName: !Ref Name, RestApiId: !Ref B, Stage: !Ref B.Stage}
Outputs:
  Target: {Condition: HasDomain, Value: !GetAtt Name.RegionalDomainName}
`
	for domain, want := range map[string][][]string{
		"example.app": {{"api.example.com"}, {"*.example.app"}},
		"":            {{"api.example.com"}},
	} {
		loaded, err := stack.Parse("template.yaml", []byte(template), stack.Options{Parameters: map[string]string{"Domain": domain}})
		if err != nil {
			t.Fatal(err)
		}
		var got [][]string
		for _, api := range loaded.APIs {
			got = append(got, api.Domains)
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%q: got the domains %v, want %v", domain, got, want)
		}
	}
}
