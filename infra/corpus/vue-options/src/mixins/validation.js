export default {
  data() {
    return { touched: false }
  },
  computed: {
    errors() {
      const found = {}
      for (const [field, rule] of Object.entries(this.$options.rules ?? {})) {
        const key = rule.call(this, this[field])
        if (key) found[field] = this.$t(`errors.${key}`)
      }
      return found
    },
    valid() {
      return Object.keys(this.errors).length === 0
    },
  },
  methods: {
    validate() {
      this.touched = true
      return this.valid
    },
  },
}
