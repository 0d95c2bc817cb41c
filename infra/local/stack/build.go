package stack

import (
	"strings"

	"devplatform/infra/local/resources"
)

const (
	typeAPI           = "AWS::Serverless::Api"
	typeBucket        = "AWS::S3::Bucket"
	typeDomainMapping = "AWS::ApiGateway::BasePathMapping"
	typeFunction      = "AWS::Serverless::Function"
	typeQueue         = "AWS::SQS::Queue"
	typeSecret        = "AWS::SecretsManager::Secret" //nolint:gosec // a type, not a credential
	typeSimpleTable   = "AWS::Serverless::SimpleTable"
	typeTable         = "AWS::DynamoDB::Table"

	streamAttribute = "StreamArn"
)

// resourceType is a type of resource. Patterns have placeholders: see [evaluator.expandFor].
type resourceType struct {
	// build adds a resource to the stack; nil: the type has no effect here.
	build func(b *builder, res *resource)
	// properties is the struct of the properties, for types that Globals may have.
	properties any
	// nameProperty is the property with the physical name, which nameOf reads. Without it, the name consists of the
	// stack's name and the logical id, and has at most maxName characters, unless fallback makes another name.
	nameProperty string
	maxName      int
	fallback     func(generated, id string) string
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
			build: (*builder).function, properties: functionProperties{}, nameProperty: "FunctionName", ref: "{name}",
			fallback:   func(_, id string) string { return id },
			attributes: map[string]string{"Arn": "arn:aws:lambda:{region}:{account}:function:{name}"},
		},
		typeAPI:           {build: (*builder).api, properties: apiProperties{}, ref: "{api}"},
		typeDomainMapping: {build: (*builder).domainMapping},
		typeTable: {
			build: (*builder).table, nameProperty: "TableName", ref: "{name}",
			attributes: map[string]string{"Arn": tableARN, streamAttribute: tableARN + anyStream},
		},
		typeSimpleTable: {
			build: (*builder).simpleTable, properties: simpleTableProperties{}, nameProperty: "TableName", ref: "{name}",
			attributes: map[string]string{"Arn": tableARN},
		},
		typeQueue: {
			build: (*builder).queue, nameProperty: "QueueName", maxName: 80, ref: "{queues}/{account}/{name}",
			attributes: map[string]string{
				"Arn": "arn:aws:sqs:{region}:{account}:{name}", "QueueName": "{name}",
				"QueueUrl": "{queues}/{account}/{name}",
			},
		},
		typeBucket: {
			build: (*builder).bucket, nameProperty: "BucketName", maxName: 63, ref: "{name}",
			fallback: func(generated, _ string) string { return strings.ToLower(generated) },
			attributes: map[string]string{
				"Arn": "arn:aws:s3:::{name}", "DomainName": "{name}.s3.amazonaws.com",
				"RegionalDomainName": "{name}.s3.{region}.amazonaws.com",
			},
		},
		typeSecret: {
			build: (*builder).secret, nameProperty: "Name", ref: "{secret}", attributes: map[string]string{"Id": "{secret}"},
		},

		"AWS::ApiGateway::DomainName": {nameProperty: "DomainName", ref: "{name}"},
	}
	for typ := range strings.FieldsSeq(ignoredTypes) {
		resourceTypes[typ] = resourceType{}
	}
}

// ignoredTypes have no effect on a laptop: permissions, logs, alarms, domains, and the way of deployment. A reference
// to them is an error, except in properties without effect. Other types that a function can call (a parameter, a state
// machine) must not be here.
const ignoredTypes = `
	AWS::ApiGateway::Account AWS::ApiGateway::ApiKey AWS::ApiGateway::BasePathMappingV2
	AWS::ApiGateway::ClientCertificate AWS::ApiGateway::DomainNameV2 AWS::ApiGateway::UsagePlan
	AWS::ApiGateway::UsagePlanKey AWS::ApplicationAutoScaling::ScalableTarget AWS::ApplicationAutoScaling::ScalingPolicy
	AWS::ApplicationInsights::Application AWS::Budgets::Budget AWS::CertificateManager::Certificate
	AWS::CloudWatch::Alarm AWS::CloudWatch::AnomalyDetector AWS::CloudWatch::CompositeAlarm AWS::CloudWatch::Dashboard
	AWS::CloudWatch::InsightRule AWS::CodeDeploy::Application AWS::CodeDeploy::DeploymentConfig
	AWS::CodeDeploy::DeploymentGroup AWS::IAM::InstanceProfile AWS::IAM::ManagedPolicy AWS::IAM::Policy AWS::IAM::Role
	AWS::IAM::RolePolicy AWS::IAM::ServiceLinkedRole AWS::KMS::Alias AWS::KMS::Key AWS::Lambda::Permission
	AWS::Lambda::Version AWS::Logs::LogGroup AWS::Logs::MetricFilter AWS::Logs::QueryDefinition AWS::Logs::ResourcePolicy
	AWS::Logs::SubscriptionFilter AWS::ResourceGroups::Group AWS::Route53::HealthCheck AWS::Route53::HostedZone
	AWS::Route53::RecordSet AWS::Route53::RecordSetGroup AWS::S3::BucketPolicy AWS::SNS::Subscription AWS::SNS::Topic
	AWS::SNS::TopicInlinePolicy AWS::SNS::TopicPolicy AWS::SQS::QueueInlinePolicy AWS::SQS::QueuePolicy
	AWS::SecretsManager::ResourcePolicy AWS::Serverless::Connector AWS::WAFv2::IPSet AWS::WAFv2::LoggingConfiguration
	AWS::WAFv2::RegexPatternSet AWS::WAFv2::RuleGroup AWS::WAFv2::WebACL AWS::WAFv2::WebACLAssociation AWS::XRay::Group
	AWS::XRay::SamplingRule`

// builder builds the stack from the resources.
type builder struct {
	*evaluator

	stack *resources.Stack
}

// build adds the resources whose conditions are true. APIs come first, because routes refer to them.
func (b *builder) build() {
	for _, apis := range []bool{true, false} {
		for _, res := range b.resources {
			if typ := resourceTypes[res.typ]; (res.typ == typeAPI) == apis && typ.build != nil && b.active(res) {
				typ.build(b, res)
			}
		}
		if apis && b.hasImplicitAPI() {
			b.implicitAPI()
		}
	}
	b.checkResources()
	b.stack.Notices = b.notices()
}

// checkResources reports unknown types, and resources with the same name, which AWS can't deploy.
func (b *builder) checkResources() {
	taken := map[string]string{}
	for _, res := range b.resources {
		typ, known := resourceTypes[res.typ]
		if !known {
			b.add(res.at().field("Type"), res.line, "%s is %s", res.typ, unsupported)
		}
		if typ.build == nil || typ.nameProperty == "" || !b.active(res) {
			continue
		}
		name := b.nameOf(res)
		key := typ.attributes["Arn"] + name
		if other := taken[key]; other != "" {
			b.add(res.at(), res.line, "has the same name as %s: %s", other, name)
		}
		taken[key] = res.id
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
		if res.typ == typ && b.active(res) && b.expandFor(res, resourceTypes[typ].attributes[attribute]) == value.text {
			return res
		}
	}
	o.problem(property, "must be the %s of an %s of this template", attribute, typ)
	return nil
}
