// Command webhook-test is the Lambda function behind POST /api/webhooks/{id}/test.
package main

import "devplatform/shared/lambdafn/apigateway"

func main() { apigateway.Start(newHandler) }
