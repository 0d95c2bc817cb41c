package stack

// Resource types that the platform runs, beside those of CloudFormation's that SAM's own replace.
const (
	typeFunction    = "AWS::Serverless::Function"
	typeAPI         = "AWS::Serverless::Api"
	typeSimpleTable = "AWS::Serverless::SimpleTable"
	typeTable       = "AWS::DynamoDB::Table"
	typeSecret      = "AWS::SecretsManager::Secret" //nolint:gosec // a type's name, no secret
)

// class is what the platform knows of a resource type.
type class struct {
	// build adds the resource to the stack; nil is a type without effect on a laptop.
	build func(*resolver, *resource)
	// properties are those that are acted upon or accepted; only types that are built have them.
	properties map[string]support
	// ref and attributes are what Ref and GetAtt give; those that are missing are refused when something needs them.
	ref        func(*resolver, *resource) string
	attributes map[string]func(*resolver, *resource) string
}

type attributes = map[string]func(*resolver, *resource) string

// classes lists every resource type that may stand in a template.
func classes() map[string]class {
	known := map[string]class{
		typeFunction: {
			build: (*resolver).buildFunction, properties: functionProperties,
			ref: functionName, attributes: attributes{"Arn": functionARN},
		},
		typeAPI: {
			build: (*resolver).buildAPI, properties: apiProperties,
			ref: func(r *resolver, res *resource) string { return restAPIID(r.options.StackName, res.id) },
		},
		typeTable: {
			build: (*resolver).buildTable, properties: tableProperties,
			ref: tableName, attributes: attributes{"Arn": tableARN},
		},
		typeDomainMapping: {build: (*resolver).buildDomainMapping},
		typeMapping:       {build: (*resolver).buildMapping, properties: mappingProperties},
		typeQueue: {
			build: (*resolver).buildQueue, properties: queueProperties,
			ref: queueURL, attributes: attributes{"Arn": queueARN, "QueueName": queueName, "QueueUrl": queueURL},
		},
		typeRule: {
			build: (*resolver).buildRule, properties: ruleProperties,
			ref: nameOfSchedule, attributes: attributes{"Arn": ruleARN},
		},
		typeSchedule: {
			build: (*resolver).buildSchedule, properties: scheduleProperties,
			ref: nameOfSchedule, attributes: attributes{"Arn": scheduleARN},
		},
		typeSimpleTable: {
			build: (*resolver).buildSimpleTable, properties: simpleTableProperties,
			ref: tableName, attributes: attributes{"Arn": tableARN},
		},
		typeBucket: {
			build: (*resolver).buildBucket, properties: bucketProperties, ref: bucketName, attributes: attributes{
				"Arn": bucketARN, "DomainName": bucketDomain, "RegionalDomainName": bucketRegionalDomain,
			},
		},
		typeSecret: {
			build: (*resolver).buildSecret, properties: secretProperties,
			ref: secretARN, attributes: attributes{"Id": secretARN},
		},
	}
	addNamedTypes(known)
	return known
}

// addNamedTypes adds the types without effect here: to some of them a template refers all the same.
func addNamedTypes(known map[string]class) {
	for _, typ := range inertTypes {
		known[typ] = class{}
	}
	known[typeDomain] = class{ref: named("DomainName")}
	known["AWS::IAM::Role"] = class{
		ref:        named("RoleName"),
		attributes: attributes{"Arn": func(r *resolver, res *resource) string { return r.globalARN("iam", "role/"+named("RoleName")(r, res)) }},
	}
	known["AWS::Logs::LogGroup"] = class{
		ref: named("LogGroupName"),
		attributes: attributes{"Arn": func(r *resolver, res *resource) string {
			return r.arn("logs", "log-group:"+named("LogGroupName")(r, res)+":*")
		}},
	}
	topicARN := func(r *resolver, res *resource) string { return r.arn("sns", named("TopicName")(r, res)) }
	known["AWS::SNS::Topic"] = class{ref: topicARN, attributes: attributes{"TopicArn": topicARN, "TopicName": named("TopicName")}}
	known["AWS::CloudWatch::Alarm"] = class{ref: named("AlarmName"), attributes: attributes{
		"Arn": func(r *resolver, res *resource) string {
			return r.arn("cloudwatch", "alarm:"+named("AlarmName")(r, res))
		},
	}}
	known[typeScheduleGroup] = class{ref: named("Name"), attributes: attributes{
		"Arn": func(r *resolver, res *resource) string {
			return r.arn("scheduler", "schedule-group/"+named("Name")(r, res))
		},
	}}
}

// named gives a resource's name: the property's value, or the name of the stack and the logical id.
func named(property string) func(*resolver, *resource) string {
	return func(r *resolver, res *resource) string {
		return r.physicalName(res, property, r.options.StackName+"-"+res.id)
	}
}

// namedWithin is named for types whose names AWS bounds: as CloudFormation does, it shortens a name that it makes itself.
func namedWithin(property string, most int) func(*resolver, *resource) string {
	return func(r *resolver, res *resource) string {
		return r.physicalName(res, property, r.generatedName(res.id, most))
	}
}

// inertTypes have no effect on a laptop: rights, logs, alarms, domains, the way a deployment is done.
// A type that a function can speak to (a parameter, a state machine) must not stand here.
var inertTypes = []string{
	"AWS::ApiGateway::Account", "AWS::ApiGateway::ApiKey", "AWS::ApiGateway::BasePathMappingV2",
	"AWS::ApiGateway::ClientCertificate", "AWS::ApiGateway::DomainNameV2",
	"AWS::ApiGateway::UsagePlan", "AWS::ApiGateway::UsagePlanKey",
	"AWS::ApplicationAutoScaling::ScalableTarget", "AWS::ApplicationAutoScaling::ScalingPolicy",
	"AWS::ApplicationInsights::Application", "AWS::Budgets::Budget", "AWS::CertificateManager::Certificate",
	"AWS::CloudWatch::AnomalyDetector", "AWS::CloudWatch::CompositeAlarm", "AWS::CloudWatch::Dashboard", "AWS::CloudWatch::InsightRule",
	"AWS::CodeDeploy::Application", "AWS::CodeDeploy::DeploymentConfig", "AWS::CodeDeploy::DeploymentGroup",
	"AWS::IAM::InstanceProfile", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy", "AWS::IAM::RolePolicy", "AWS::IAM::ServiceLinkedRole",
	"AWS::KMS::Alias", "AWS::KMS::Key", "AWS::Lambda::Permission", "AWS::Lambda::Version",
	"AWS::Logs::MetricFilter", "AWS::Logs::QueryDefinition", "AWS::Logs::ResourcePolicy", "AWS::Logs::SubscriptionFilter",
	"AWS::ResourceGroups::Group", "AWS::S3::BucketPolicy", "AWS::Route53::HealthCheck", "AWS::Route53::HostedZone", "AWS::Route53::RecordSet", "AWS::Route53::RecordSetGroup",
	"AWS::SNS::Subscription", "AWS::SNS::TopicInlinePolicy", "AWS::SNS::TopicPolicy", "AWS::SQS::QueueInlinePolicy", "AWS::SQS::QueuePolicy",
	"AWS::SecretsManager::ResourcePolicy", "AWS::Serverless::Connector",
	"AWS::WAFv2::IPSet", "AWS::WAFv2::LoggingConfiguration", "AWS::WAFv2::RegexPatternSet", "AWS::WAFv2::RuleGroup",
	"AWS::WAFv2::WebACL", "AWS::WAFv2::WebACLAssociation", "AWS::XRay::Group", "AWS::XRay::SamplingRule",
}

// build makes the stack of the resources that the conditions leave. APIs come first, for routes find theirs there.
func (r *resolver) build() {
	for _, res := range r.resources {
		if class, known := r.classes[res.typ]; !known {
			r.add(res.at().field("Type"), res.line, "%s is %s", res.typ, unsupported)
		} else if class.build != nil && res.typ == typeAPI && r.active(res) {
			class.build(r, res)
		}
	}
	if r.hasImplicitAPI() {
		r.buildAPI(&resource{id: implicitAPI, line: r.root.line, typ: typeAPI, properties: implicitProperties(r.globals[typeAPI])})
	}
	for _, res := range r.resources {
		if class := r.classes[res.typ]; class.build != nil && res.typ != typeAPI && r.active(res) {
			class.build(r, res)
		}
	}
	r.schedulesOfFunctions()
	r.checkRoutes()
	r.checkRedrive()
	r.checkVisibility()
	r.checkNames()
}

// checkNames refuses two resources of one name, which on AWS fail to deploy. Rules and schedules, which functions' events
// make too, have been compared when they were added.
func (r *resolver) checkNames() {
	taken := map[string]string{}
	for _, res := range r.resources {
		class := r.classes[res.typ]
		if class.build == nil || res.name == "" || res.typ == typeRule || res.typ == typeSchedule || !r.active(res) {
			continue
		}
		kind := res.typ
		if kind == typeSimpleTable {
			kind = typeTable
		}
		if other := taken[kind+res.name]; other != "" {
			r.add(res.at(), res.line, "has the name %s, as %s has", res.name, other)
			continue
		}
		taken[kind+res.name] = res.id
	}
}
