import { styled } from "@/lib/styled";

export const Card = styled("div", "rounded-lg border bg-card text-card-foreground shadow-sm");
export const CardHeader = styled("div", "flex flex-col gap-1.5 p-5");
export const CardTitle = styled("h3", "text-base font-semibold leading-none tracking-tight");
export const CardDescription = styled("p", "text-sm text-muted-foreground");
export const CardContent = styled("div", "p-5 pt-0");
export const CardFooter = styled("div", "flex items-center p-5 pt-0");
