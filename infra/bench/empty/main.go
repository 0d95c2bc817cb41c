// Command empty is the smallest Lambda function: what every other function's cold start is measured against.
package main

import "github.com/aws/aws-lambda-go/lambda"

func main() {
	lambda.Start(func() (string, error) { return "", nil })
}
