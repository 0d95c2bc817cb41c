package stack

import (
	"math"
	"slices"
)

// tableProperties: KinesisStreamSpecification, LocalSecondaryIndexes and ImportSourceSpecification
// are missing and refused.
var tableProperties = map[string]support{
	"TableName": runs, "AttributeDefinitions": runs, "KeySchema": runs, "GlobalSecondaryIndexes": runs, "BillingMode": runs,
	"ProvisionedThroughput": runs, "StreamSpecification": runs, "TimeToLiveSpecification": runs,

	"ContributorInsightsSpecification": inert, "DeletionProtectionEnabled": inert, "OnDemandThroughput": inert,
	"PointInTimeRecoverySpecification": inert, "ResourcePolicy": inert, "SSESpecification": inert, "TableClass": inert,
	"Tags": inert, "WarmThroughput": inert,
}

var (
	attributeProperties  = map[string]support{"AttributeName": runs, "AttributeType": runs}
	keyProperties        = map[string]support{"AttributeName": runs, "KeyType": runs}
	throughputProperties = map[string]support{"ReadCapacityUnits": runs, "WriteCapacityUnits": runs}
	ttlProperties        = map[string]support{"AttributeName": runs, "Enabled": runs}
	streamProperties     = map[string]support{"StreamViewType": runs, "ResourcePolicy": inert, "Tags": inert}
	projectionProperties = map[string]support{"ProjectionType": runs, "NonKeyAttributes": runs}
	indexProperties      = map[string]support{
		"IndexName": runs, "KeySchema": runs, "Projection": runs, "ProvisionedThroughput": runs,
		"ContributorInsightsSpecification": inert, "OnDemandThroughput": inert, "WarmThroughput": inert,
	}
	simpleTableProperties = map[string]support{
		"TableName": runs, "PrimaryKey": runs, "ProvisionedThroughput": runs,
		"PointInTimeRecoverySpecification": inert, "SSESpecification": inert, "Tags": inert,
	}
	primaryKeyProperties = map[string]support{"Name": runs, "Type": runs}
)

const (
	onDemand    = "PAY_PER_REQUEST"
	provisioned = "PROVISIONED"
)

func tableName(r *resolver, res *resource) string {
	return r.physicalName(res, "TableName", r.options.StackName+"-"+res.id)
}

func tableARN(r *resolver, res *resource) string {
	return r.arn("dynamodb", "table/"+tableName(r, res))
}

func (r *resolver) buildTable(res *resource) {
	p := r.object(res.at().field("Properties"), orEmpty(res), tableProperties)
	table := Table{
		LogicalID: res.id, Name: tableName(r, res), ARN: tableARN(r, res),
		Key: p.keySchema(), BillingMode: p.oneOf("BillingMode", provisioned, onDemand, provisioned),
	}
	for i, item := range p.items("AttributeDefinitions") {
		attribute := r.object(p.at.field("AttributeDefinitions").index(i), item, attributeProperties)
		table.Attributes = append(table.Attributes, Attribute{
			Name: attribute.required("AttributeName"), Type: attribute.oneOf("AttributeType", "", "S", "N", "B"),
		})
	}
	for i, item := range p.items("GlobalSecondaryIndexes") {
		index := r.object(p.at.field("GlobalSecondaryIndexes").index(i), item, indexProperties)
		table.Indexes = append(table.Indexes, index.index(table.BillingMode))
	}
	table.ReadUnits, table.WriteUnits = p.throughput(table.BillingMode)
	table.StreamViewType = p.streamViewType()
	if p.has("TimeToLiveSpecification") {
		ttl := p.object("TimeToLiveSpecification", ttlProperties)
		if ttl.boolean("Enabled", false) {
			table.TTLAttribute = ttl.required("AttributeName")
		}
	}
	p.checkAttributes(table)
	r.stack.Tables = append(r.stack.Tables, table)
}

// streamViewType is what the table's stream shows of an item; "" where there is no stream.
func (o object) streamViewType() string {
	if !o.has("StreamSpecification") {
		return ""
	}
	stream := o.object("StreamSpecification", streamProperties)
	if !stream.has("StreamViewType") {
		return stream.required("StreamViewType")
	}
	return stream.oneOf("StreamViewType", "", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")
}

// keySchema reads a key: a partition key, then perhaps a sort key.
func (o object) keySchema() []KeyPart {
	var key []KeyPart
	for i, item := range o.items("KeySchema") {
		part := o.r.object(o.at.field("KeySchema").index(i), item, keyProperties)
		key = append(key, KeyPart{Name: part.required("AttributeName"), Type: part.oneOf("KeyType", "", "HASH", "RANGE")})
	}
	if len(key) == 0 || len(key) > 2 || key[0].Type != "HASH" || (len(key) == 2 && key[1].Type != "RANGE") {
		o.problem("KeySchema", "must have a HASH key, and may have a RANGE key after it")
	}
	return key
}

func (o object) index(billing string) Index {
	projection := o.object("Projection", projectionProperties)
	index := Index{
		Name: o.required("IndexName"), Key: o.keySchema(),
		NonKeyAttributes: projection.texts("NonKeyAttributes"),
	}
	if !o.has("Projection") {
		o.problem("Projection", "is missing")
	} else {
		index.Projection = projection.oneOf("ProjectionType", "", "ALL", "KEYS_ONLY", "INCLUDE")
	}
	if (index.Projection == "INCLUDE") != (len(index.NonKeyAttributes) > 0) {
		projection.problem("NonKeyAttributes", "stand with ProjectionType INCLUDE, and only there")
	}
	index.ReadUnits, index.WriteUnits = o.throughput(billing)
	return index
}

// throughput reads the capacity, which a provisioned table needs and no other may have.
func (o object) throughput(billing string) (read, write int64) {
	given := o.has("ProvisionedThroughput")
	switch {
	case given && billing == onDemand:
		o.problem("ProvisionedThroughput", "can't stand with BillingMode %s", onDemand)
	case !given && billing == provisioned:
		o.problem("ProvisionedThroughput", "is missing: BillingMode is %s unless it is set to %s", provisioned, onDemand)
	case given:
		units := o.object("ProvisionedThroughput", throughputProperties)
		return int64(units.integer("ReadCapacityUnits", 0, 1, math.MaxInt32)), int64(units.integer("WriteCapacityUnits", 0, 1, math.MaxInt32))
	}
	return 0, 0
}

// checkAttributes holds the definitions against the keys: DynamoDB wants exactly the attributes that keys use.
func (o object) checkAttributes(table Table) {
	var used []string
	for _, part := range table.Key {
		used = append(used, part.Name)
	}
	names := map[string]bool{}
	for _, index := range table.Indexes {
		if names[index.Name] {
			o.problem("GlobalSecondaryIndexes", "two indexes are named %s", index.Name)
		}
		names[index.Name] = true
		for _, part := range index.Key {
			used = append(used, part.Name)
		}
	}
	defined := map[string]bool{}
	for _, attribute := range table.Attributes {
		if defined[attribute.Name] {
			o.problem("AttributeDefinitions", "%s is defined twice", attribute.Name)
		} else if !slices.Contains(used, attribute.Name) {
			o.problem("AttributeDefinitions", "%s is in no key", attribute.Name)
		}
		defined[attribute.Name] = true
	}
	for _, name := range used {
		if name != "" && !defined[name] {
			o.problem("AttributeDefinitions", "%s is in a key and not defined", name)
			defined[name] = true
		}
	}
}

// simpleKeyTypes are SAM's words for DynamoDB's.
var simpleKeyTypes = map[string]string{"String": "S", "Number": "N", "Binary": "B"}

// buildSimpleTable builds SAM's table with a partition key, named id unless the template says otherwise.
func (r *resolver) buildSimpleTable(res *resource) {
	p := r.object(res.at().field("Properties"), orEmpty(res), simpleTableProperties)
	key := p.object("PrimaryKey", primaryKeyProperties)
	name := key.text("Name", "id")
	table := Table{
		LogicalID: res.id, Name: tableName(r, res), ARN: tableARN(r, res), BillingMode: onDemand,
		Key:        []KeyPart{{Name: name, Type: "HASH"}},
		Attributes: []Attribute{{Name: name, Type: simpleKeyTypes[key.oneOf("Type", "String", "String", "Number", "Binary")]}},
	}
	if p.has("ProvisionedThroughput") {
		table.BillingMode = provisioned
		table.ReadUnits, table.WriteUnits = p.throughput(provisioned)
	}
	r.stack.Tables = append(r.stack.Tables, table)
}
