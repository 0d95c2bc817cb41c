package stack_test

import "testing"

func TestCircularDependencies(t *testing.T) {
	t.Parallel()
	run(t, header, map[string]errorCase{
		"role": {"      Role: !GetAtt R.Arn\n  R: {Type: AWS::IAM::Role, Properties: {Policies: [!Sub '${F.Arn}']}}", []string{"3: F: Circular dependency between resources: [F, R]"}},
		"order": {"  A: {Type: AWS::KMS::Key, DependsOn: B}\n  B: {Type: AWS::KMS::Key, DependsOn: [C]}\n  C: {Type: AWS::KMS::Key, Properties: {K: !GetAtt A.Arn}}", []string{
			"9: A: Circular dependency between resources: [A, B, C]"}},
		"beside the function": {"      Policies: [!Ref P]\n      Events: {E: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 day), RoleArn: !GetAtt R.Arn}}}\n" +
			"  P: {Type: AWS::IAM::ManagedPolicy, Properties: {R: !Ref F}}\n  R: {Type: AWS::IAM::Role, Properties: {R: !Ref F}}", nil},
		"branch not taken": {"      Description: !If [Never, !Ref R, x]\n  R: {Type: AWS::IAM::Role, Properties: {R: !Ref F}}\nConditions: {Never: !Equals [a, b]}", nil},
		"left out":         {"      Description: !If [Never, !Ref R, x]\n  R: {Type: AWS::IAM::Role, Condition: Never, Properties: {R: !Ref F}}\nConditions: {Never: !Equals [a, b]}", nil},
		"its own name":     {"  A: {Type: AWS::KMS::Key, Properties: {K: !Sub ['${A}', {A: b}]}}", nil},
		"two ways":         {"      Description: !Sub '${A} ${B}'\n  A: {Type: AWS::IAM::Role}\n  B: {Type: AWS::IAM::Role, DependsOn: A}", nil},
	})
}
