import * as React from "react";
import { Slot } from "@radix-ui/react-slot";
import {
  Controller,
  FormProvider,
  useFormContext,
  type ControllerProps,
  type FieldPath,
  type FieldValues,
} from "react-hook-form";
import { Label } from "@/components/ui/label";
import { styled } from "@/lib/styled";
import { cn } from "@/lib/utils";

export const Form = FormProvider;

const FieldContext = React.createContext<{ name: string; id: string } | null>(null);

export function FormField<V extends FieldValues, N extends FieldPath<V>>(props: ControllerProps<V, N>) {
  const id = React.useId();
  const value = React.useMemo(() => ({ name: props.name, id }), [props.name, id]);
  return (
    <FieldContext.Provider value={value}>
      <Controller {...props} />
    </FieldContext.Provider>
  );
}

function useFormField() {
  const field = React.useContext(FieldContext);
  const { getFieldState, formState } = useFormContext();
  if (!field) throw new Error("Form parts must be used inside of <FormField>.");
  return { ...field, ...getFieldState(field.name, formState) };
}

export const FormItem = styled("div", "space-y-2");

export function FormLabel(props: React.ComponentPropsWithoutRef<typeof Label>) {
  const { id, error } = useFormField();
  return <Label htmlFor={id} {...props} className={cn(error && "text-destructive", props.className)} />;
}

export function FormControl(props: React.ComponentPropsWithoutRef<typeof Slot>) {
  const { id, error } = useFormField();
  return <Slot id={id} aria-invalid={!!error} aria-describedby={`${id}-message`} {...props} />;
}

export const FormDescription = styled("p", "text-sm text-muted-foreground");

export function FormMessage() {
  const { id, error } = useFormField();
  if (!error?.message) return null;
  return (
    <p id={`${id}-message`} className="text-sm font-medium text-destructive">
      {error.message}
    </p>
  );
}
