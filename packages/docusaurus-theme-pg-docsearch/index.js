// The search box of @docusaurus/theme-search-algolia, with another server. Its page of results is left out: it would ask
// Algolia.

const path = require('node:path');
const algolia = require('@docusaurus/theme-search-algolia');

const NAME = 'docusaurus-theme-pg-docsearch';

module.exports = function theme(context) {
  const { configureWebpack, getDefaultCodeTranslationMessages } = algolia.default(context);
  return {
    name: NAME,
    getThemePath: () => path.join(__dirname, 'theme'),
    getDefaultCodeTranslationMessages,
    configureWebpack(...given) {
      const configured = configureWebpack?.(...given);
      const components = path.join(path.dirname(require.resolve('@docusaurus/theme-search-algolia')), 'theme');
      return {
        ...configured,
        resolve: {
          ...configured?.resolve,
          alias: { ...configured?.resolve?.alias, 'pg-docsearch-search-components': components },
        },
      };
    },
  };
};

module.exports.validateThemeConfig = function validateThemeConfig({ themeConfig, validate }) {
  const { server, project, token = 'anonymous' } = themeConfig.docsearch ?? {};
  if (!URL.canParse(server) || !/^https?:/.test(server)) {
    throw new Error(`${NAME}: themeConfig.docsearch.server is missing. Set it to the address of docsearch serve.`);
  }
  if (typeof project !== 'string' || project === '') {
    throw new Error(`${NAME}: themeConfig.docsearch.project is missing. Set it to the name of a project.`);
  }
  // The box wants the name of an application, which the server ignores.
  const given = { ...themeConfig.algolia, appId: 'docsearch', apiKey: token, indexName: project, searchPagePath: false };
  return algolia.validateThemeConfig({ themeConfig: { ...themeConfig, algolia: given }, validate });
};
