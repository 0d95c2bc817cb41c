package stack

import (
	"strings"

	"devplatform/infra/local/resources"
)

const (
	typeAPI           = "AWS::Serverless::Api"
	typeBucket        = "AWS::S3::Bucket"
	typeDomainMapping = "AWS::ApiGateway::BasePathMapping"
	typeDomainName    = "AWS::ApiGateway::DomainName"
	typeFunction      = "AWS::Serverless::Function"
	typeQueue         = "AWS::SQS::Queue"
	typeSecret        = "AWS::SecretsManager::Secret" //nolint:gosec // a type, not a credential
	typeTable         = "AWS::DynamoDB::Table"

	streamAttribute = "StreamArn"
)

// resourceType is a type of resource. Patterns have placeholders: see [evaluator.expandFor].
type resourceType struct {
	// build adds a resource to the stack; nil: the type has no effect here.
	build func(b *builder, res *resource)
	// ref and attributes are the patterns of Ref and of Fn::GetAtt.
	ref        string
	attributes map[string]string
}

// resourceTypes are the types of resources that a template may have.
var resourceTypes map[string]resourceType

func init() { // the table refers to functions that refer to the table
	const tableARN = "arn:aws:dynamodb:{region}:{account}:table/{name}"
	resourceTypes = map[string]resourceType{
		typeFunction: {
			build: (*builder).function, ref: "{id}",
			attributes: map[string]string{"Arn": "arn:aws:lambda:{region}:{account}:function:{id}"},
		},
		typeAPI:           {build: (*builder).api, ref: "{api}"},
		typeDomainMapping: {build: (*builder).domainMapping},
		typeTable: {
			build: (*builder).table, ref: "{name}",
			attributes: map[string]string{"Arn": tableARN, streamAttribute: tableARN + anyStream},
		},
		typeQueue: {
			build: (*builder).queue, ref: "{queues}/{account}/{name}",
			attributes: map[string]string{
				"Arn": "arn:aws:sqs:{region}:{account}:{name}", "QueueName": "{name}",
				"QueueUrl": "{queues}/{account}/{name}",
			},
		},
		typeBucket: {build: (*builder).bucket, ref: "{name}", attributes: map[string]string{"Arn": "arn:aws:s3:::{name}"}},
		typeSecret: {build: (*builder).secret, ref: "{secret}", attributes: map[string]string{"Id": "{secret}"}},

		typeDomainName: {ref: "{domain}"},
	}
	for typ := range strings.FieldsSeq(ignoredTypes) {
		resourceTypes[typ] = resourceType{}
	}
}

// ignoredTypes have no effect on a laptop: permissions, logs, alarms, domains, and the way of deployment. A reference
// to them is an error, except in properties without effect. A type of resource that a function can call, such as a
// state machine, must not be here.
const ignoredTypes = `
	AWS::ApiGateway::Account AWS::Budgets::Budget AWS::CertificateManager::Certificate AWS::CloudWatch::Alarm
	AWS::CloudWatch::CompositeAlarm AWS::CloudWatch::Dashboard AWS::Events::Rule AWS::IAM::ManagedPolicy AWS::IAM::Policy
	AWS::IAM::Role AWS::KMS::Alias AWS::KMS::Key AWS::Lambda::Permission AWS::Logs::LogGroup AWS::Logs::MetricFilter
	AWS::Logs::SubscriptionFilter AWS::Route53::RecordSet AWS::S3::BucketPolicy AWS::SES::ConfigurationSet
	AWS::SES::ConfigurationSetEventDestination AWS::SNS::Subscription AWS::SNS::Topic AWS::SNS::TopicPolicy
	AWS::SQS::QueuePolicy AWS::WAFv2::WebACL AWS::WAFv2::WebACLAssociation`

// builder builds the stack from the resources.
type builder struct {
	*evaluator

	stack *resources.Stack
}

// build adds the resources whose conditions are true. APIs come first, because routes refer to them.
func (b *builder) build() {
	for _, apis := range []bool{true, false} {
		for _, res := range b.resources {
			typ, isKnown := resourceTypes[res.typ]
			if !isKnown && apis {
				b.add(res.at().field("Type"), res.line, "%s is %s", res.typ, unsupported)
			}
			if (res.typ == typeAPI) == apis && typ.build != nil && b.isActive(res) {
				typ.build(b, res)
			}
		}
	}
}

// decodeProperties reads the properties of a resource into the struct that into points to.
func (b *builder) decodeProperties(res *resource, into any) {
	b.decode(res.at().field("Properties"), res.line, res.properties, into)
}

// resourceOf returns the resource of a type that a property refers to by an attribute, such as "Arn". If there is none,
// it reports a problem and returns nil.
func (b *builder) resourceOf(o object, property, typ, attribute string) *resource {
	value := o.property(property).n
	if value == nil || value.text == "" { // decode has reported this
		return nil
	}
	for _, res := range b.resources {
		if res.typ == typ && b.isActive(res) && b.expandFor(res, resourceTypes[typ].attributes[attribute]) == value.text {
			return res
		}
	}
	o.problem(property, "must be the %s of an %s of this template", attribute, typ)
	return nil
}
